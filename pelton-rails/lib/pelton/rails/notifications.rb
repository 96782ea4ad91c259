# frozen_string_literal: true

require "pelton"
require "active_support"
require "active_support/notifications"

module Pelton
  module Rails
    # Forwards Pelton's events to ActiveSupport::Notifications, under the same names:
    #
    #     require "pelton/rails/notifications"
    #     Pelton::Rails::Notifications.forward(/\.memcached\z/)
    #     ActiveSupport::Notifications.subscribe("command.memcached") { |name, start, finish, id, payload| ... }
    #
    # For failed operations, the payload also has `:exception` and `:exception_object`.
    module Notifications
      # Its `time` and `end` are Times, as subscribers of five arguments expect.
      class Event < ::ActiveSupport::Notifications::Event
        def initialize(name, started, finished, *)
          super
          @time_of_start, @time_of_end = started, finished
        end

        def time = @time_of_start
        def end = @time_of_end
      end
      private_constant :Event

      @id = 0

      class << self
        # @param name [String, Regexp] the events' name
        # @return [Object] for Pelton::Notifications.unsubscribe
        def forward(name) = ::Pelton::Notifications.subscribe(name, self)

        # @private
        def finish(event)
          payload = event.payload
          if (error = event.error)
            payload = payload.merge(exception: [error.class.name, error.message], exception_object: error)
          end
          ::ActiveSupport::Notifications.publish_event(Event.new(event.name, event.time, event.time + event.duration,
            "pelton-#{@id += 1}", payload))
        end
      end
    end
  end
end
