# frozen_string_literal: true

require "pelton/resumable_stream"
require "pelton/sequel"

module Sequel
  module Plugins
    # Texts that a job writes piece by piece, and that pages follow ({::Pelton::ResumableStream}), in a column of a
    # model. `message.content_stream` is the stream; the object itself does not change, refresh it.
    #
    #     class Message < Sequel::Model
    #       plugin :pelton_resumable_streams
    #       resumable_stream :content
    #     end
    #
    # The columns, in a migration:
    #
    #     String :content, text: true # on MySQL `size: :medium` too, for more than 64 KB
    #     Integer :content_run, null: false, default: 0
    #     String :content_state, null: false, default: "waiting"
    #     String :content_error
    #     DateTime :content_alive_at
    module PeltonResumableStreams
      # A row as the store of a text, on the primary server.
      # @private
      class Row
        COLUMNS = %i[run state error alive_at].freeze
        private_constant :COLUMNS

        # @param row [Sequel::Dataset]
        # @param column [Symbol]
        def initialize(row, column)
          @row = row.server(:default)
          @names = {text: column, **COLUMNS.to_h { |name| [name, :"#{column}_#{name}"] }}
        end

        # @return [Hash{Symbol => Object}, nil]
        def read = @row.get(@names.values)&.then { |values| @names.keys.zip(values).to_h }

        # @return [Boolean]
        def write(changes, run:, state:)
          @row.where(@names[:run] => run, @names[:state] => state).update(changes.transform_keys(@names)) == 1
        end
      end

      module ClassMethods
        # Has a job write this column piece by piece. A text that no job writes is saved with the state "finished".
        #
        # @param column [Symbol]
        def resumable_stream(column)
          define_method(:"#{column}_stream") do
            raise ArgumentError, "save the #{model.name} before it is written" if new?
            name = [model.table_name, *pk, column].join(":")
            ::Pelton::ResumableStream.new(name, Row.new(model.db.from(model.table_name).where(pk_hash), column))
          end
        end
      end
    end
  end
end
