# frozen_string_literal: true

module Pelton
  module Web
    # Middleware around applications that may respond later, in Thin's style: they return the status -1 or throw :async,
    # and pass the response to `env["async.callback"]`. Outer layers change such a response when it arrives.
    #
    # {Application} puts it around foreign Rack code. Controllers use {Controller::Streaming#defer_response} instead.
    class Deferral
      KEY = "async.callback"
      LATER = [-1, {}.freeze, [].freeze].freeze
      private_constant :KEY, :LATER

      class << self
        # Calls the block to change a later response. A layer calls this if the application has returned the status -1;
        # without a surrounding {Deferral} it has no effect.
        #
        # @param env [Hash]
        # @param response [Array] as the application returned it
        # @yieldparam response [Array] Rack's response
        # @return [Array] the same
        def change(env, response, &change)
          callback = env[KEY]
          callback.changes << change if callback.is_a?(Callback)
          response
        end
      end

      def initialize(app) = @app = app

      # @asynchronous if the application waits
      def call(env)
        server = env[KEY] or return @app.call(env) # a server that accepts no later responses
        callback = env[KEY] = Callback.new(server)
        response = catch(:async) { @app.call(env) } || LATER
        (response[0] == -1) ? callback.await(response) : response
      end

      # Replaces the server's `async.callback`.
      class Callback
        include Opaque

        # @return [Array<Proc>] blocks that change the response, innermost first
        attr_reader :changes

        # @private
        def initialize(server)
          @server = server
          @changes = []
          @awaited = false
        end

        # Takes the response. Other arguments are passed to the server.
        #
        # @raise (see HTTP::Exchange#call)
        # @asynchronous while the server sends the response
        def call(*arguments)
          response = arguments.first
          return @server.call(*arguments) unless response.is_a?(Array)
          return @response ||= response unless @awaited # the application is still running: its caller gets the response
          @server.call(changed(response))
        end

        # Called when the application has returned.
        #
        # @private
        # @return [Array] the response if it has arrived, otherwise the argument
        def await(later)
          @awaited = true
          @response ? changed(@response) : later
        end

        private

        def changed(response)
          @changes.each { |change| change.call(response) }
          response
        end
      end
    end
  end
end
