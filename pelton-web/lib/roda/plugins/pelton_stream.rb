# frozen_string_literal: true

require "pelton/web/stream"

class Roda
  module RodaPlugins
    # Responses that are written while they are sent, and end with their client: `stream { |out| out << "text" }`. See {Pelton::Web::Stream}.
    module PeltonStream
      # @param max [Integer, nil] streams of the process that may be open at once
      # @param lifetime [Numeric, nil] seconds
      def self.configure(app, max: 1000, lifetime: 3600) = app.opts[:pelton_stream] = {max: max, lifetime: lifetime}

      # The methods of routes.
      module InstanceMethods
        # Answers with a body that the block writes, and ends the route.
        #
        # @param lifetime [Numeric, nil] seconds
        # @yieldparam out [Pelton::Web::Stream]
        # @raise [Pelton::Web::TooManyStreams] as many are open as there may be
        def stream(lifetime: opts[:pelton_stream][:lifetime], &block)
          Pelton::Web::Stream.admit(opts[:pelton_stream][:max])
          response["content-type"] ||= "text/plain; charset=utf-8"
          request.halt([response.status || 200, response.headers, Pelton::Web::Stream.new(env, lifetime: lifetime, &block)])
        end
      end
    end

    register_plugin(:pelton_stream, PeltonStream)
  end
end
