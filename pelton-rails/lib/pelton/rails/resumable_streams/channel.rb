# frozen_string_literal: true

require "action_cable"

module Pelton
  module Rails
    module ResumableStreams
      # To which a page subscribes that {Helper#resumable_stream_tag} has written without `src:`. The text's name is
      # signed, so whoever has the page may read it.
      class Channel < ::ActionCable::Channel::Base
        PURPOSE = "pelton/resumable_streams"
        private_constant :PURPOSE

        class << self
          # @return [String] for a page
          def sign(record, column) = verifier.generate([record.class.name, record.id, column.to_s])

          # @param signed [Object] from a client
          # @return [Array(ActiveRecord::Base, String), nil] nil: the name was not signed, or the record is gone
          def find(signed)
            name, id, column = verifier.verified(signed.to_s)
            record = name&.constantize&.then { |model| model.unscoped.find_by(model.primary_key => id) }
            [record, column] if record
          end

          private

          def verifier = ::Rails.application.message_verifier(PURPOSE)
        end

        def subscribed
          record, column = Channel.find(params[:signed_stream_name])
          record ? follow_stream(record, column) : reject
        end
      end
    end
  end
end
