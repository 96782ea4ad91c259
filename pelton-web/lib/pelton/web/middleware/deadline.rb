# frozen_string_literal: true

require "pelton/clock"
require_relative "../response/problem"

module Pelton
  module Web
    # Middleware: a request has so many seconds to be answered. Then its fiber is interrupted where it waits, with what it waits for: a query
    # of a database is cancelled at its server. The client gets 503.
    #
    # The seconds end with the response's head. A body that is streamed has its own limits. A response that an application gives later, by
    # `async.callback`, is bounded by the server's `request_timeout` alone.
    class Deadline
      # @private
      def self.wrap(app, settings) = settings.deadline ? new(app, settings.deadline) : app

      def initialize(app, seconds)
        @app = app
        @seconds = seconds
      end

      # @raise [TimeoutError] of the application's own
      # @asynchronous where the application waits
      def call(env)
        over = Clock.now + @seconds
        Pelton.timeout(@seconds) { @app.call(env) }
      rescue TimeoutError => error
        raise error if Clock.now < over
        place = error.backtrace&.find { |line| !line.start_with?("<internal:") }
        Pelton.logger.warn("#{env["REQUEST_METHOD"]} #{env["PATH_INFO"].inspect} was not answered within #{@seconds} s; it waited at #{place}")
        Problem.new(503, detail: "The answer takes too long. Try again later.", headers: {"retry-after" => "1"}).response(env)
      end
    end

    class Settings
      # @!attribute deadline
      #   @return [Numeric, nil] seconds that a request has to be answered: see {Deadline}; nil, the default: what the server allows
      setting(:deadline) { |value| "must be a number of seconds, or nil" if value && !(value.is_a?(Numeric) && value.positive?) }
    end
  end
end
