# frozen_string_literal: true

module Pelton
  module Web
    # Middleware: each request has an id, the client's or proxy's own (`X-Request-Id`) where that is harmless in a log, and otherwise a new one. The env
    # has it as HTTP_X_REQUEST_ID, and the response as `x-request-id`.
    class RequestId
      HARMLESS = /\A[\w.+\/=-]{1,128}\z/
      STORE = Hash.instance_method(:store) # Response::Headers' own checks the text once more, which takes longer than all of this
      private_constant :HARMLESS, :STORE

      # @private
      def self.wrap(app, settings) = settings.request_id ? new(app) : app

      def initialize(app) = @app = app

      # @asynchronous where the application waits
      def call(env)
        id = env["HTTP_X_REQUEST_ID"]
        id = env["HTTP_X_REQUEST_ID"] = Random.bytes(8).unpack1("H16") unless id && HARMLESS.match?(id)
        response = @app.call(env)
        return Deferral.change(env, response) { |later| STORE.bind_call(later[1], "x-request-id", id) } if response[0] == -1
        STORE.bind_call(response[1], "x-request-id", id)
        response
      end
    end

    class Settings
      # @!attribute request_id
      #   @return [Boolean] whether requests have ids: see {RequestId}; true by default
      setting(:request_id, true) { |value| "must be true or false" unless [true, false].include?(value) }
    end
  end
end
