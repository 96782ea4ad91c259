# frozen_string_literal: true

require "rack/mock_request"
require_relative "../../web"
Pelton.require_gem("irb", "the console needs irb, which Ruby 4.0 has as a gem only: add gem \"irb\" to the Gemfile")

module Pelton
  module Web
    # `pelton web console`: irb with the application loaded, inside a reactor, so that queries and other waits work as
    # in a request. Provides `app`, `get "/path"` and `reload!`.
    # @private
    class Console
      # Methods available in the console.
      module Methods
        # @return [Class] the application
        attr_reader :app

        # @return [Rack::MockResponse] the application's response
        # @asynchronous
        def get(path, **env) = Rack::MockRequest.new(app).get(path, {"HTTP_HOST" => "localhost"}.merge(env))

        # Reloads the program's files, in development.
        #
        # @return [Boolean] whether any had changed
        def reload! = @loading.call
      end

      def initialize(application)
        @application = application
        @place = Object.new.extend(Methods)
        @place.instance_variable_set(:@app, application)
        @place.instance_variable_set(:@loading, -> { application._reload })
        def @place.to_s = "app"
        def @place.inspect = "app"
      end

      # Reads and evaluates lines until the input ends.
      def start
        ARGV.clear
        IRB.setup(nil)
        Pelton.run do
          irb = IRB::Irb.new(IRB::WorkSpace.new(@place.instance_eval { binding }))
          irb.run(IRB.conf)
          Pelton.stop
        end
      end
    end
  end
end
