# frozen_string_literal: true

module Pelton
  module Web
    # Middleware round applications that may answer later, in Thin's style: they return a response with the status -1, or throw :async, and
    # pass the response to `env["async.callback"]`. The layers outside change such a response when it comes.
    #
    # {Application} puts it round Rack applications and middleware that are not its own. A controller needs none: see
    # {Controller::Streaming#defer_response}.
    class Deferral
      KEY = "async.callback"
      LATER = [-1, {}.freeze, [].freeze].freeze
      private_constant :KEY, :LATER

      class << self
        # Has the block change the response when it comes. A layer calls this where the application has returned the status -1. Nothing
        # is changed where the application was called without a {Deferral} round it.
        #
        # @param env [Hash]
        # @param response [Array] what the application has returned
        # @yieldparam response [Array] Rack's response
        # @return [Array] what the application has returned
        def change(env, response, &change)
          callback = env[KEY]
          callback.changes << change if callback.is_a?(Callback)
          response
        end
      end

      def initialize(app) = @app = app

      # @asynchronous where the application waits
      def call(env)
        server = env[KEY] or return @app.call(env) # a server that takes no responses later
        callback = env[KEY] = Callback.new(server)
        response = catch(:async) { @app.call(env) } || LATER
        (response[0] == -1) ? callback.await(response) : response
      end

      # Stands for the server's `async.callback`.
      class Callback
        include Opaque

        # @return [Array<Proc>] what changes the response, from the inside out
        attr_reader :changes

        # @private
        def initialize(server)
          @server = server
          @changes = []
          @awaited = false
        end

        # Takes the response. Other arguments are passed on: what a server does with them is its own.
        #
        # @raise (see HTTP::Exchange#call)
        # @asynchronous while the server sends the response
        def call(*arguments)
          response = arguments.first
          return @server.call(*arguments) unless response.is_a?(Array)
          return @response ||= response unless @awaited # the application is still running: its caller gets it
          @server.call(changed(response))
        end

        # The application has returned.
        #
        # @private
        # @return [Array] the response, if it is here already, and otherwise the argument
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
