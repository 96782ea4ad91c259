# frozen_string_literal: true

require "pelton"

module Pelton
  module Web
    # The application is written or set up wrongly: trying again does not help.
    class ConfigurationError < Pelton::Error
    end

    # An action has answered twice, or not at all.
    class AnswerError < Pelton::Error
    end

    # The request cannot be answered as it is. Raised anywhere in an action, it becomes the answer: a {Problem} with its status and
    # message, unless a `rescue_from` of the controller takes it.
    class RequestError < Pelton::Error
      class << self
        # @param code [Integer, nil] sets the status of the class and its subclasses
        # @return [Integer] the status of the answer
        def status(code = nil)
          @status = code if code
          @status || superclass.status
        end
      end
      status 400

      # @return [Integer] the status of the answer
      def status = self.class.status

      # @return [Hash] further members of the problem document
      def members = {}

      # @return [Hash{String => String}] headers of the answer
      def headers = {}
    end

    # The request is malformed: its path, its parameters or its body cannot be read.
    class BadRequest < RequestError
      status 400
    end

    # The client may not do that.
    class Forbidden < RequestError
      status 403
    end

    # There is no such thing.
    class NotFound < RequestError
      status 404

      def initialize(message = "There is nothing at this address.") = super
    end

    # The client accepts none of the formats that the action offers.
    class NotAcceptable < RequestError
      status 406
    end
  end
end
