# frozen_string_literal: true

require "openssl"

module Pelton
  module Cable
    # Serves the client for browsers, a module of JavaScript: `client.js` below the path of a {Server}.
    # @private
    module Client
      PATH = "/client.js"
      TEXT = File.read("#{__dir__}/client.js", encoding: Encoding::UTF_8).freeze
      HEADERS = {
        "content-type" => "text/javascript; charset=utf-8", "cache-control" => "public, max-age=3600",
        "etag" => %("#{OpenSSL::Digest::SHA256.hexdigest(TEXT)[0, 16]}"),
        "x-content-type-options" => "nosniff"
      }.freeze
      private_constant :TEXT, :HEADERS

      class << self
        # @param env [Hash] Rack's
        def wanted?(env) = env["PATH_INFO"] == PATH && %w[GET HEAD].include?(env["REQUEST_METHOD"])

        # @param env [Hash] Rack's
        # @return [Array] the response
        def call(env)
          if env["HTTP_IF_NONE_MATCH"].to_s.include?(HEADERS["etag"])
            return [304, HEADERS.slice("etag", "cache-control"), []]
          end
          [200, HEADERS.merge("content-length" => TEXT.bytesize.to_s), (env["REQUEST_METHOD"] == "HEAD") ? [] : [TEXT]]
        end
      end
    end
  end
end
