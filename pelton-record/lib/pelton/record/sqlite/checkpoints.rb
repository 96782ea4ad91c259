# frozen_string_literal: true

module Pelton
  module Record
    module SQLite
      # Copies the write-ahead log into the database's file, beside the requests: SQLite itself does it in the commit that makes the log
      # too long, and that request waits for the disk.
      # @private
      class Checkpoints
        CHECK_EVERY = 64 # writes
        SIZE = 4 << 20 # bytes of the log from which on it is copied

        # @return [Integer] how often it has copied the log
        attr_reader :count

        # @param path [String] the database's file
        def initialize(path, check_every: CHECK_EVERY, size: SIZE)
          @path = path
          @log = "#{path}-wal"
          @check_every = check_every
          @size = size
          @writes = @count = 0
          @running = false
        end

        # Something has been committed.
        def written
          @writes += 1
          return if @running || @writes % @check_every != 0 || (File.size?(@log) || 0) < @size
          @running = true
          return copy unless Pelton.running?
          Pelton.offload(later: true) { copy }
        end

        private

        # On a connection of its own, which releases Ruby's lock, and waits for nobody: it copies what no reader needs any more.
        def copy
          database = ::Extralite::Database.new(@path)
          database.query("PRAGMA wal_checkpoint(PASSIVE)")
          @count += 1
        rescue ::Extralite::Error => error
          Pelton.logger.warn("#{@path}: the write-ahead log cannot be copied: #{error.message}")
        ensure
          database&.close
          @running = false
        end
      end
    end
  end
end
