# frozen_string_literal: true

require "pelton/web/stream"

class Roda
  module RodaPlugins
    # Streaming responses that end with their client: `stream { |out| out << "text" }`. See {Pelton::Web::Stream}.
    module PeltonStream
      # @param max [Integer, nil] how many streams a process may have open
      # @param lifetime [Numeric, nil] seconds
      def self.configure(app, max: 1000, lifetime: 3600) = app.opts[:pelton_stream] = {max: max, lifetime: lifetime}

      module InstanceMethods
        # Responds with a body that the block writes, and ends the route.
        #
        # @param lifetime [Numeric, nil] seconds
        # @yieldparam out [Pelton::Web::Stream]
        # @raise [Pelton::Web::TooManyStreams] if `max` are open
        def stream(lifetime: opts[:pelton_stream][:lifetime], &block)
          Pelton::Web::Stream.admit(opts[:pelton_stream][:max])
          response["content-type"] ||= "text/plain; charset=utf-8"
          request.halt([response.status || 200, response.headers,
            Pelton::Web::Stream.new(env, lifetime: lifetime, &block)])
        end
      end
    end

    register_plugin(:pelton_stream, PeltonStream)
  end
end
