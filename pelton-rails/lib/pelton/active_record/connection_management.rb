# frozen_string_literal: true

require "rack/body_proxy"
require_relative "connections"

module Pelton
  module ActiveRecord
    # A Rack middleware that runs each request as {Pelton::ActiveRecord.with_connections} does, until its response's
    # body is closed.
    #
    #     use Pelton::ActiveRecord::ConnectionManagement
    class ConnectionManagement
      def initialize(app)
        @app = app
      end

      # @asynchronous
      def call(env)
        work = Connections.executor.run!(reset: true)
        response = @app.call(env)
        body = Rack::BodyProxy.new(response[2]) { work.complete! }
        returned = [response[0], response[1], body]
      ensure
        work&.complete! unless returned
      end
    end
  end
end
