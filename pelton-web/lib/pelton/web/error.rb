# frozen_string_literal: true

require "pelton"

module Pelton
  module Web
    # Raised if the application's code or settings are wrong. Retrying does not help.
    class ConfigurationError < Pelton::Error
    end

    # Raised if an action responds twice, or not at all.
    class AnswerError < Pelton::Error
    end

    # Raised for a request that cannot be served as it is. Wherever an action raises it, it becomes the response, a
    # {Problem} with its status and message, unless a `rescue_from` of the controller handles it.
    class RequestError < Pelton::Error
      class << self
        # @param code [Integer, nil] sets the status of the class and its subclasses
        # @return [Integer] the response's status
        def status(code = nil)
          @status = code if code
          @status || superclass.status
        end
      end
      status 400

      # @return [Integer] the response's status
      def status = self.class.status

      # @return [Hash] further members of the problem document
      def members = {}

      # @return [Hash{String => String}] headers of the response
      def headers = {}
    end

    # Raised if the path, the parameters or the body cannot be parsed.
    class BadRequest < RequestError
      status 400
    end

    # Raised if the client may not do that.
    class Forbidden < RequestError
      status 403
    end

    # Raised if there is nothing at the path, or no such record.
    class NotFound < RequestError
      status 404

      def initialize(message = "There is nothing at this address.") = super
    end

    # Raised if the client accepts none of the action's formats.
    class NotAcceptable < RequestError
      status 406
    end
  end
end
