# frozen_string_literal: true

require_relative "response/headers"

module Pelton
  module Web
    # An action's response: a status, headers and a body. The action has responded when there is a body.
    class Response
      include Opaque

      TEXT = "text/plain; charset=utf-8"
      private_constant :TEXT

      # @return [Integer] 200 by default
      attr_accessor :status

      attr_reader :headers

      # @return [#each, #call, nil] Rack's body; nil before the action has responded
      attr_reader :body

      def initialize
        @status = 200
        @headers = Headers.allocate # an empty one, in half the time of new
        @body = nil
      end

      # @param body [String, #each, #call, nil] a String, or Rack's body
      def body=(body)
        @body = body.is_a?(String) ? [body] : body
      end

      # Responds with plain text.
      #
      # @private
      def text(text)
        @headers.put("content-type", TEXT) unless @headers.key?("content-type")
        @body = [text]
      end

      # A response of plain text alone.
      #
      # @private
      # @return [Array] Rack's
      def self.plain(text) = [200, {"content-type" => TEXT}, [text]]

      def answered? = !@body.nil?

      # @return [Array(Integer, Headers, Object)] Rack's response
      # @raise [AnswerError] if the action has not responded
      def finish
        if @body.nil?
          raise AnswerError, "the action has not answered: an around filter has neither answered nor yielded"
        end
        [@status, @headers, @body]
      end
    end
  end
end
