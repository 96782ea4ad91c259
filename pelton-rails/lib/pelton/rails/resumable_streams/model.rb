# frozen_string_literal: true

require_relative "record_store"

module Pelton
  module Rails
    module ResumableStreams
      # In models of Active Record.
      module Model
        # Has a job write this column piece by piece. `message.content_stream` is its {Pelton::ResumableStream}; the
        # record itself does not change, reload it. A text that no job writes is saved with the state "finished".
        #
        #     class Message < ApplicationRecord
        #       resumable_stream :content, one_per: :conversation
        #
        # @param column [Symbol] see {Columns}
        # @param one_per [Symbol, nil] an association. Of its records, each has one text that waits or is written; to
        #   save another one raises ActiveRecord::RecordNotSaved, also when two requests do it at once
        def resumable_stream(column, one_per: nil)
          define_method(:"#{column}_stream") { ResumableStreams.stream(self, column) }
          scope :"#{column}_open", -> { where("#{column}_state": %w[waiting running]) }
          before_create { ResumableStreams.refuse_second(self, column, one_per) } if one_per
        end
      end

      class << self
        # @param record [ActiveRecord::Base] that is saved
        # @return [Pelton::ResumableStream]
        def stream(record, column)
          unless record.persisted?
            raise ArgumentError, "save the #{record.model_name.human.downcase} before it is written"
          end
          name = "#{record.class.table_name}:#{record.id}:#{column}"
          Pelton::ResumableStream.new(name, RecordStore.new(record.class, record.id, column))
        end

        # Called in the transaction that saves the record. The other record's lock orders those who do it at once.
        # @private
        def refuse_second(record, column, association)
          return unless %w[waiting running].include?(record.public_send(:"#{column}_state"))
          parent = record.public_send(association) or return
          parent.class.unscoped.lock.find(parent.id)
          key = record.class.reflect_on_association(association).foreign_key
          raced = record.class.unscoped.public_send(:"#{column}_open").where(key => record[key])
          return unless raced.any? { |other| stream(other, column).snapshot.open? }
          raise ::ActiveRecord::RecordNotSaved.new("this #{association} has a #{column} that is being written: " \
            "cancel it, or wait for its end", record)
        end
      end
    end
  end
end
