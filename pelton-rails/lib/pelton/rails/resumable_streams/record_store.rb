# frozen_string_literal: true

module Pelton
  module Rails
    module ResumableStreams
      # A row of a table as the store of a text. Each call takes a connection and gives it back, in whatever fiber or
      # thread it is.
      class RecordStore
        COLUMNS = %i[run state error alive_at].freeze
        private_constant :COLUMNS

        # @param model [Class] of Active Record
        # @param id [Object] the primary key
        # @param column [Symbol]
        def initialize(model, id, column)
          @model, @id, @column = model, id, column
          @names = {text: column, **COLUMNS.to_h { |name| [name, :"#{column}_#{name}"] }}
        end

        # @return [Hash{Symbol => Object}, nil]
        def read = connected { row.pick(*@names.values) }&.then { |values| @names.keys.zip(values).to_h }

        # @return [Boolean]
        def write(changes, run:, state:)
          connected do
            row.where(@names[:run] => run, @names[:state] => state).update_all(changes.transform_keys(@names)) == 1
          end
        end

        private

        def row = @model.unscoped.where(@model.primary_key => @id)

        def connected(&block) = @model.connection_pool.with_connection { @model.uncached(&block) }
      end
    end
  end
end
