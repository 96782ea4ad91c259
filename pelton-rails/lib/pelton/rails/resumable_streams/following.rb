# frozen_string_literal: true

require_relative "../cable/versions"

module Pelton
  module Rails
    module ResumableStreams
      # In channels of Action Cable.
      module Following
        # Sends to the client a text that a job writes, until it is finished or cancelled, from its beginning or from
        # where the client was: see {Pelton::Cable::Channel#follow_stream}. Who may read it is the channel's business.
        #
        #     class AnswerChannel < ApplicationCable::Channel
        #       def subscribed = follow_stream(current_user.messages.find(params[:id]), :content, turbo: false)
        #
        # @param record [ActiveRecord::Base]
        # @param column [Symbol]
        # @param turbo [Boolean] whether the messages are elements of Turbo, for what {Helper#resumable_stream_tag} has
        #   written
        # @yieldparam event [Pelton::ResumableStream::Event] whose state has changed
        # @yieldreturn [String, nil] elements of Turbo
        # @return [void]
        # @raise [Error] Pelton's HTTP server does not serve the connection
        def follow_stream(record, column, turbo: true, &changed)
          client = connection.try(:pelton_client)
          unless client
            raise Error, "follow_stream needs Pelton's server, with config.pelton.cable = true, and Action Cable " \
              "#{Cable::VERSIONS}"
          end
          stream = record.public_send(:"#{column}_stream")
          within = ->(event) { connection.worker_pool.work(connection) { changed.call(event) } } if changed
          elements = ResumableStreams.elements(record, column, &within) if turbo
          pelton_follow(client.session.follow(identifier, stream, nil, &elements&.method(:of)))
        end
      end
    end
  end
end
