# frozen_string_literal: true

require "pelton/clock"
require_relative "../response/problem"

module Pelton
  module Web
    # Middleware: limits the time of a request. Beyond it, the fiber is interrupted where it waits, a query is cancelled
    # at the database, and the client gets 503.
    #
    # The time ends with the response's head: streamed bodies have their own limits. A response given later, by
    # `async.callback`, is limited by the server's `request_timeout` alone.
    class Deadline
      # @private
      def self.wrap(app, settings) = settings.deadline ? new(app, settings.deadline) : app

      def initialize(app, seconds)
        @app = app
        @seconds = seconds
      end

      # @raise [TimeoutError] if the application raises one of its own
      # @asynchronous if the application waits
      def call(env)
        over = Clock.now + @seconds
        Pelton.timeout(@seconds) { @app.call(env) }
      rescue TimeoutError => error
        raise error if Clock.now < over
        place = error.backtrace&.find { |line| !line.start_with?("<internal:") }
        Pelton.logger.warn("#{env["REQUEST_METHOD"]} #{env["PATH_INFO"].inspect} was not answered within #{@seconds} " \
          "s; it waited at #{place}")
        Problem.new(503, detail: "The answer takes too long. Try again later.",
          headers: {"retry-after" => "1"}).response(env)
      end
    end

    class Settings
      # @!attribute deadline
      #   @return [Numeric, nil] seconds for a response: see {Deadline}; nil, the default, leaves it to the server
      setting(:deadline) do |value|
        "must be a number of seconds, or nil" if value && !(value.is_a?(Numeric) && value.positive?)
      end
    end
  end
end
