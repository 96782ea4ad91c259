# frozen_string_literal: true

module Pelton
  module Sequel
    module SQLite
      # Copies the write-ahead log into the database's file in the background. SQLite would do it in the commit that
      # makes the log too long, and that request would wait for the disk.
      #
      # SQLite restarts the log only when all of it has been copied and the next write comes. Under constant writes that
      # never happens, and the log would grow without limit, so beyond {LIMIT} writers are parked while a thread copies
      # the rest.
      # @private
      class Checkpoints
        CHECK_EVERY = 64 # writes
        SIZE = 4 << 20 # bytes by which the log grows before it is copied
        # Bytes of the log beyond which writers wait; happens to some 50 of 6,000 requests that write a row each
        LIMIT = 64 << 20

        # @return [Integer] how often the log was copied, and how often restarted
        attr_reader :count, :restarts

        # @param path [String] the database's file
        # @param limit [Integer] bytes beyond which writers wait
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

        # Called after each commit.
        def written
          @writes += 1
          return if @running || @writes % @check_every != 0
          size = File.size?(@log) || 0
          @copied = 0 if size < @copied # the log was restarted
          return if size - @copied < @size
          @copied = size
          @running = true
          return copy(size) unless Pelton.running?
          Pelton.spawn(name: "copy the log of #{@path}", transient: true) { copy(size) }
        end

        private

        def copy(size)
          in_thread { |database| database.query("PRAGMA wal_checkpoint(PASSIVE)") } # waits for no reader or writer
          @count += 1
          return if size < @limit
          @alone.call { in_thread { |database| begin_anew(database) } }
          # Otherwise a reader still uses the log, and it is tried again when it has grown
          @restarts += 1 if (File.size?(@log) || 0) < size
        rescue ::Extralite::Error, Pelton::Error => error
          Pelton.logger.warn("#{@path}: the write-ahead log cannot be copied: #{error.message}")
        ensure
          @running = false
        end

        # The first write to an empty log waits for the disk, so make one here that changes nothing.
        def begin_anew(database)
          version = database.query_single_splat("PRAGMA user_version")
          database.execute(
            "PRAGMA wal_checkpoint(TRUNCATE); BEGIN IMMEDIATE; PRAGMA user_version = #{Integer(version)}; COMMIT"
          )
        end

        # Uses a separate connection, which releases the GVL. The thread closes it even if the fiber ends.
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
