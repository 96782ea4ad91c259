# frozen_string_literal: true

require_relative "../request/params"
require_relative "../response/problem"

module Pelton
  module Web
    # A channel of the application, in `app/channels`: {Pelton::Cable::Channel} with typed parameters. An error that
    # would be a controller's response, such as a missing record or an invalid parameter, rejects the subscription or
    # refuses the action, with a line in the log. Any other error is reported, and the client subscribes again.
    #
    #     class RoomChannel < Pelton::Web::Channel
    #       def subscribed
    #         @room = connection.user.rooms_dataset.with_pk!(params.integer(:id))
    #         stream_for @room
    #       end
    #
    #       def speak(data) = @room.add_message(text: data.string(:text, max: 2000))
    #     end
    class Channel < Pelton::Cable::Channel
      # Statuses of what may succeed a moment later.
      TEMPORARY = [408, 425, 429].freeze
      private_constant :TEMPORARY

      # @!attribute [r] params
      #   @return [Params] what the client has subscribed with

      # @private
      def initialize(session, connection, identifier, _params)
        super
        @params = Params.new(JSON.parse(identifier))
      end

      # @private
      def _subscribe = answering { super }

      # @private
      def _perform(data) = answering { super }

      private

      # What an action gets.
      #
      # @return [Params]
      def _data(data) = Params.new(data)

      def answering
        yield
      rescue => error
        problem = Problem.of(error, (connection.settings if connection.respond_to?(:settings)))
        raise unless problem && !TEMPORARY.include?(problem.status) && problem.status < 500
        raise Pelton::Cable::Refused, "#{self.class.name}: #{problem.detail || error.message}"
      end
    end
  end
end
