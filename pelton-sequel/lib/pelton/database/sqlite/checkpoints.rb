# frozen_string_literal: true

module Pelton
  module Database
    module SQLite
      # Copies the write-ahead log into the database's file, beside the requests: SQLite itself does it in the commit that makes the log
      # too long, and that request waits for the disk.
      #
      # SQLite begins the log anew when all of it was copied and somebody writes. While writes do not cease that never comes, and the log
      # would grow for ever: from {LIMIT} on the writers wait, parked, while a thread copies the rest.
      # @private
      class Checkpoints
        CHECK_EVERY = 64 # writes
        SIZE = 4 << 20 # bytes that the log grows by before it is copied
        LIMIT = 64 << 20 # bytes of the log from which on writers wait. Few requests meet that: some 50 of 6,000 with a row each

        # @return [Integer] how often it has copied the log, and how often it has begun it anew
        attr_reader :count, :restarts

        # @param path [String] the database's file
        # @param limit [Integer] bytes
        # @yield calls its block while no other fiber of this process writes
        def initialize(path, check_every: CHECK_EVERY, size: SIZE, limit: LIMIT, &alone)
          @path = path
          @log = "#{path}-wal"
          @check_every = check_every
          @size = size
          @limit = limit
          @alone = alone
          @writes = @count = @restarts = @copied = 0
          @running = false
        end

        # Something has been committed.
        def written
          @writes += 1
          return if @running || @writes % @check_every != 0
          size = File.size?(@log) || 0
          @copied = 0 if size < @copied # it has begun anew
          return if size - @copied < @size
          @copied = size
          @running = true
          return copy(size) unless Pelton.running?
          Pelton.spawn(name: "copy the log of #{@path}", transient: true) { copy(size) }
        end

        private

        def copy(size)
          in_thread { |database| database.query("PRAGMA wal_checkpoint(PASSIVE)") } # waits for nobody: it copies what no reader needs any more
          @count += 1
          return if size < @limit
          @alone.call { in_thread { |database| begin_anew(database) } }
          @restarts += 1 if (File.size?(@log) || 0) < size # otherwise somebody reads what is in it: it is tried again when it has grown
        rescue ::Extralite::Error, Pelton::Error => error
          Pelton.logger.warn("#{@path}: the write-ahead log cannot be copied: #{error.message}")
        ensure
          @running = false
        end

        # The first write into an empty log waits for the disk, so it is made here. It changes nothing.
        def begin_anew(database)
          version = database.query_single_splat("PRAGMA user_version")
          database.execute("PRAGMA wal_checkpoint(TRUNCATE); BEGIN IMMEDIATE; PRAGMA user_version = #{Integer(version)}; COMMIT")
        end

        # On a connection of its own, which releases Ruby's lock. The thread closes it, whatever becomes of the fiber.
        def in_thread
          Pelton.offload do
            database = ::Extralite::Database.new(@path)
            yield database
          ensure
            database&.close
          end
        end
      end
    end
  end
end
