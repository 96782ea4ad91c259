# frozen_string_literal: true

require "json"
require "zlib"

module Pelton
  module Lab
    # A visitor of a web server, who keeps the server's cookies, and the token against forged requests that Rails writes
    # into a page.
    class WebVisitor
      # What differs between servers, or from one request to the next, though the application's response is the same.
      VARYING =
        %w[connection content-length date etag keep-alive server set-cookie transfer-encoding vary x-request-id
          x-runtime].freeze
      TOKEN = /(name="(?:csrf-token|authenticity_token)" (?:content|value))="([^"]+)"/

      # @param server [WebServer]
      # @param encoding [String] which the visitor accepts: identity, or gzip, which it decodes
      def initialize(server, encoding: "identity")
        @server = server
        @encoding = encoding
        @cookies = {}
      end

      # What a request of this visitor must say.
      # @return [Hash{String => String}]
      def headers
        {"Accept-Encoding" => @encoding, "Cookie" => @cookies.map { |pair| pair.join("=") }.join("; "),
         "X-CSRF-Token" => @token}.compact.reject { |_, value| value.empty? }
      end

      # @return [Net::HTTPResponse]
      def get(path) = keep(@server.get(path, headers))

      # @param body [String] JSON
      # @return [Net::HTTPResponse]
      def post(path, body = "{}") = keep(@server.post(path, body, headers.merge("content-type" => "application/json")))

      # An answer without what may vary, to be compared with that of another server.
      # @param post [String, nil] JSON; nil: GET. Numbers vary in the answer to a post, which makes something new
      # @return [Array] status, headers, body
      def same(path, post: nil)
        answer = post ? self.post(path, post) : get(path)
        headers, body = answer.to_hash.except(*VARYING), answer.body.gsub(TOKEN, '\1')
        return [answer.code, headers, body] unless post
        [answer.code, headers.transform_values { |values| values.map { |value| value.gsub(/\d+/, "0") } },
          body.gsub(/\d+/, "0")]
      end

      private

      def keep(answer)
        answer.body = Zlib.gunzip(answer.body) if answer["content-encoding"] == "gzip"
        answer.get_fields("set-cookie")&.each { |cookie| @cookies.store(*cookie[/\A[^;]+/].split("=", 2)) }
        @token = answer.body[TOKEN, 2] || @token if answer.body&.valid_encoding?
        answer
      end
    end
  end
end
