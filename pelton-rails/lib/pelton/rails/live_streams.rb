# frozen_string_literal: true

require "action_controller"

module Pelton
  module Rails
    # Tells an action of ActionController::Live that its client has left when the client leaves: `response.stream.connected?` becomes false,
    # and a write raises ClientDisconnected. Rails alone, on any server, finds out when it writes, so an action that waits for news would go
    # on until there are some.
    module LiveStreams
      def self.install
        ::ActionController::Live.prepend(self)
      end

      def process(...)
        stream = response.stream
        request.get_header("async.close")&.callback { stream.abort } if stream.is_a?(::ActionController::Live::Buffer)
        super
      end
    end
  end
end
