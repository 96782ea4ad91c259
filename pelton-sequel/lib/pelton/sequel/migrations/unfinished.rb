# frozen_string_literal: true

require "socket"

module Pelton
  module Sequel
    class Migrations
      # Notes in the database which migration runs without a transaction: otherwise nothing would show that its process
      # was killed. The table exists only meanwhile.
      # @private
      class Unfinished
        TABLE = :schema_migrations_unfinished

        # @param database [Sequel::Database]
        def initialize(database)
          @database = database
        end

        # @return [Hash{Symbol => String}, nil] filename, direction and begun of the migration that did not end
        # @asynchronous
        def find = (@database[TABLE].first if @database.table_exists?(TABLE))

        # Notes a migration while the block runs. An error also removes the note, since its message says what remains.
        #
        # @param name [String] the file's name
        # @param direction [Symbol] :up, :down, or :load for a schema
        # @asynchronous
        def note(name, direction)
          @database.create_table?(TABLE) do
            String :filename, size: 190, null: false
            String :direction, size: 10, null: false
            String :begun, size: 190, null: false
          end
          @database[TABLE].insert(filename: name, direction: direction.to_s,
            begun: "#{Time.now.round} by process #{Process.pid} on #{Socket.gethostname}"[0, 190])
          begin
            value = yield
          rescue StandardError, ScriptError
            forget_after_error
            raise
          end
          forget
          value
        end

        # @asynchronous
        def forget = @database.drop_table?(TABLE)

        private

        def forget_after_error
          forget
        rescue ::Sequel::Error, Pelton::Error
          nil # the connection is lost: the note stays, as if the process had been killed
        end
      end
    end
  end
end
