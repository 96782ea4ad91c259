# frozen_string_literal: true

require "extralite"
require_relative "cursor"
require_relative "types"

module Pelton
  module Database
    module SQLite
      # One connection of extralite's, with its prepared statements. A long statement lets the loop turn again and again, and one that
      # waits for a lock parks its fiber: SQLite calls a block meanwhile.
      # @private
      class Connection
        include Opaque

        PERIOD = 500 # instructions of SQLite's machine between two looks at the clock. Most take 20 ns, but one may read a long text
        SLICE = 0.0005 # seconds for which a fiber computes here before the loop turns
        TRANSACTION_SLICE = 0.005 # the same between the statements of a transaction, since other writers wait until it ends
        LOCK_PAUSE = 0.0005 # seconds between two attempts to get a lock that another process holds
        STATEMENTS = 200 # prepared statements that are kept
        SCHEMA_CHECK = 1 # seconds between two checks whether another process has changed the schema

        # What a fiber must not leave half-way: it would give the connection back with the transaction open.
        ENDING = /\A(?:COMMIT|ROLLBACK|RELEASE)\b/

        # A literal or a bound value: the types of the columns do not depend on it. What is quoted otherwise is kept.
        TEXT = /'[^']*+(?:''[^']*+)*+'/
        LITERAL = /(AS #{TEXT}|"[^"]*+"|`[^`]*+`|\[[^\]]*+\])|[xX]?#{TEXT}|(?<![\w.])\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?!\w)|(?<!:):\w+|\?\d*/

        LONG = 10_000 # bytes of a statement that is not kept
        private_constant :TEXT

        # @param path [String]
        # @param timeout [Float] seconds to wait for a lock of another process
        def initialize(path, timeout:, readonly: false)
          @database = ::Extralite::Database.new(path, read_only: readonly)
          @timeout = timeout
          @statements = {}
          @types = {}
          @generation = 0
          @schema_checked = @slice_began = Clock.now
          let_others_run
        end

        # Runs a statement that returns rows.
        #
        # @param known [Hash{String => #call}] converters by the declared types
        # @param like [String] a shorter statement whose columns are the same
        # @return [Cursor]
        # @asynchronous
        def select(sql, arguments, known, like = sql)
          converters = converters(like, known)
          query = take(sql)
          cursor = nil
          run { arguments ? query.bind(*arguments) : query.reset }
          cursor = Cursor.new(self, query, converters)
        ensure
          keep(query) if query && !cursor
        end

        # Runs a statement that returns a row, or none, and is certain to come again.
        #
        # @param argument [Integer, String]
        # @param known [Hash{String => #call}] converters by the declared types
        # @return [Hash{Symbol => Object}, nil]
        # @asynchronous
        def first(sql, argument, known)
          converters = (@types[sql] ||= converters(sql, known))
          query = take(sql)
          row = run { query.bind(argument).next }
          row && Types.convert(row, converters)
        ensure
          keep(query) if query
        end

        # Runs a statement that returns no rows that anybody wants.
        #
        # @return [Integer] changed rows
        # @asynchronous
        def execute(sql, arguments = nil)
          query = take(sql)
          run(whole: sql.match?(ENDING)) { query.execute(*arguments) }
        rescue ::Extralite::Error => error
          raise unless error.message.include?("multiple queries") && !arguments
          query = nil
          run { @database.execute(sql) }
        ensure
          keep(query) if query
        end

        # Takes a statement back that is no longer in use.
        # @private
        def keep(query)
          return query.close if query.sql.bytesize > LONG
          query.reset unless query.eof?
          @statements.store(query.sql, query)
          @statements.shift.last.close if @statements.size > STATEMENTS
        end

        # Calls SQLite in the block.
        #
        # @param whole [Boolean] whether the loop does not turn, so that nothing interrupts it
        # @private
        # @asynchronous
        def run(whole: false)
          @locked_since = nil
          @whole = whole
          share_loop unless whole
          result = yield
          raise_interruption if @interruption
          result
        rescue ::Extralite::Error
          raise_interruption if @interruption
          raise
        end

        # @return [Integer]
        def last_insert_rowid = @database.last_insert_rowid

        # @return [Integer] rows that the last statement has changed
        def changes = @database.changes

        # @return [Boolean]
        def transaction_active? = @database.transaction_active?

        # @return [Integer] SQLite's extended code of the last error
        def error_code = @database.errcode

        # The converters of a statement's columns: {column => converter}, empty if none needs one.
        # @asynchronous
        def converters(sql, known)
          return @types[sql] if @types.key?(sql)
          key = sql.gsub(LITERAL, '\1')
          found = @types[key] || remember(key, converters_of(sql, known))
          @statements.key?(sql) ? remember(sql, found) : found # a statement that comes again with the same values
        end

        # Forgets what depends on the schema if it may have changed: by this process, which counts its changes, or by another one.
        # SQLite compiles a statement anew by itself then, but extralite has the old columns.
        #
        # @param generation [Integer] this process' count
        # @asynchronous
        def refresh(generation)
          now = Clock.now
          return if generation == @generation && now - @schema_checked < SCHEMA_CHECK
          @schema_checked = now
          version = run { @database.query_single_splat("PRAGMA schema_version") }
          unless version == @schema_version && generation == @generation
            schema_changed
            run { @database.query("SELECT 1 FROM sqlite_master LIMIT 1") } # SQLite itself sees the change when a statement runs
          end
          @schema_version = version
          @generation = generation
        end

        # Forgets what depends on the schema.
        def schema_changed
          @statements.each_value(&:close)
          @statements.clear
          @types.clear
        end

        def close
          @statements.each_value(&:close)
          @statements.clear
          @database.close
        end

        private

        def converters_of(sql, known)
          shape = sql.gsub(LITERAL) { $1 || ($&.start_with?(":", "?") ? "NULL" : $&) }
          declared_types(shape).filter_map { |name, type| (converter = known[Types.base(type)]) && [name.to_sym, converter] }.to_h.freeze
        end

        def remember(sql, converters)
          return converters if sql.bytesize > LONG
          @types.shift if @types.size >= STATEMENTS
          @types[sql] = converters
        end

        # Extralite has no call for the declared types of a statement's columns, but a view has the types of its statement.
        def declared_types(shape)
          run { @database.execute("CREATE TEMP VIEW pelton_types AS #{shape}") }
          begin
            run { @database.query_array("PRAGMA temp.table_info(pelton_types)") }.map { |row| row.values_at(1, 2) }
          ensure
            run { @database.execute("DROP VIEW temp.pelton_types") }
          end
        rescue ::Extralite::Error # a PRAGMA, or a statement that is no view for another reason
          []
        end

        # A prepared statement. While it is in use it is not in the cache, so the same SQL may run again meanwhile.
        def take(sql) = (@statements.delete(sql) if sql.bytesize <= LONG) || @database.prepare_hash(sql)

        # SQLite calls the block in the middle of a statement. No exception may leave it, because SQLite's own frames are in between: it
        # is kept, the statement is stopped, and {#run} raises it.
        def let_others_run
          @database.on_progress(period: PERIOD, tick: PERIOD) do |locked|
            next stop if @interruption
            next wait_for_lock if locked
            pass if !@whole && slice_over?
          rescue Exception => error # standard:disable Lint/RescueException -- raised by run
            @interruption = error
            stop
          end
        end

        def pass
          Fiber.current_scheduler ? sleep(0) : Thread.pass
          start_slice(@fiber)
        end

        # A fiber that runs many short statements without waiting lets the loop turn, too: it is known by no other having been here.
        def share_loop
          fiber = Fiber.current
          return start_slice(fiber) unless @fiber.equal?(fiber)
          pass if slice_over? && (!transaction_active? || slice_over?(TRANSACTION_SLICE))
        end

        def start_slice(fiber)
          @fiber = fiber
          @slice_began = Clock.now
        end

        def slice_over?(slice = SLICE) = Clock.now - @slice_began >= slice

        def wait_for_lock
          now = Clock.now
          @locked_since ||= now
          raise ::Extralite::BusyError, "the database has been locked by another process for #{@timeout} s" if now - @locked_since > @timeout
          sleep(LOCK_PAUSE)
        end

        # Ends the statement: SQLite stops at its next instruction, or gives up the lock, because no block says that it shall wait.
        def stop
          @database.interrupt
          @database.busy_timeout = 0
        end

        def raise_interruption
          error, @interruption = @interruption, nil
          let_others_run
          raise error
        end
      end
    end
  end
end
