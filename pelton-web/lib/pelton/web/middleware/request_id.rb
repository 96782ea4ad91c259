# frozen_string_literal: true

module Pelton
  module Web
    # Middleware: gives each request an id: the client's or proxy's `X-Request-Id` if it is safe to log, otherwise a new
    # one. It is HTTP_X_REQUEST_ID in the env, and `x-request-id` in the response.
    class RequestId
      HARMLESS = /\A[\w.+\/=-]{1,128}\z/
      # That of Response::Headers checks the text again, which takes longer than all of this
      STORE = Hash.instance_method(:store)
      private_constant :HARMLESS, :STORE

      # @private
      def self.wrap(app, settings) = settings.request_id ? new(app) : app

      def initialize(app) = @app = app

      # @asynchronous if the application waits
      def call(env)
        id = env["HTTP_X_REQUEST_ID"]
        id = env["HTTP_X_REQUEST_ID"] = Random.bytes(8).unpack1("H16") unless id && HARMLESS.match?(id)
        response = @app.call(env)
        if response[0] == -1
          return Deferral.change(env, response) { |later| STORE.bind_call(later[1], "x-request-id", id) }
        end
        STORE.bind_call(response[1], "x-request-id", id)
        response
      end
    end

    class Settings
      # @!attribute request_id
      #   @return [Boolean] whether to give requests ids: see {RequestId}; true by default
      setting(:request_id, true) { |value| "must be true or false" unless [true, false].include?(value) }
    end
  end
end
