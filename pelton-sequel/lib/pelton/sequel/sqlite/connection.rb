# frozen_string_literal: true

require "extralite"
require_relative "cursor"
require_relative "types"

module Pelton
  module Sequel
    module SQLite
      # A connection of extralite with its prepared statements. SQLite calls a block during long statements, which lets
      # other fibers run, and while it waits for a lock, which parks the fiber.
      # @private
      class Connection
        include Opaque

        PERIOD = 500 # SQLite instructions between two looks at the clock. Most take 20 ns, but one may read a long text
        SLICE = 0.0005 # seconds that a fiber computes before others run
        TRANSACTION_SLICE = 0.005 # the same between statements of a transaction, for which other writers wait
        LOCK_PAUSE = 0.0005 # seconds between attempts to get a lock of another process
        STATEMENTS = 200 # cached prepared statements
        SCHEMA_CHECK = 1 # seconds between checks for schema changes by other processes

        # Statements that a fiber must not abandon: it would give the connection back with the transaction open.
        ENDING = /\A(?:COMMIT|ROLLBACK|RELEASE)\b/

        # A literal or bound value, on which column types do not depend. Names in other quotes are kept.
        TEXT = /'[^']*+(?:''[^']*+)*+'/
        LITERAL =
          /(AS\ #{TEXT}|"[^"]*+"|`[^`]*+`|\[[^\]]*+\])|
            [xX]?#{TEXT}|
            (?<![\w.])\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?!\w)|
            (?<!:):\w+|\?\d*/x

        # A statement that writes and returns columns: its table and these. Its types are those of a SELECT.
        RETURNING =
          /\A(?:INSERT|REPLACE|UPDATE|DELETE)\b(?:\ OR\ \w+)?(?:\ INTO|\ FROM)?
            \ ((?:[\w.]|"[^"]*+"|`[^`]*+`|\[[^\]]*+\])+).*\ RETURNING\ (.+)\z/mx

        LONG = 10_000 # longer statements, in bytes, are not cached
        private_constant :TEXT, :RETURNING

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
        # @param known [Hash{String => #call}] converters by declared type
        # @param like [String] a shorter statement with the same columns
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

        # Runs a statement that returns at most one row and is certain to be repeated.
        #
        # @param argument [Integer, String]
        # @param known [Hash{String => #call}] converters by declared type
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

        # Runs a statement whose rows are not needed.
        #
        # @return [Integer] number of changed rows
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

        # Puts a statement back into the cache.
        # @private
        def keep(query)
          return query.close if query.sql.bytesize > LONG
          query.reset unless query.eof?
          @statements.store(query.sql, query)
          @statements.shift.last.close if @statements.size > STATEMENTS
        end

        # Calls SQLite in the block.
        #
        # @param whole [Boolean] whether other fibers must not run meanwhile, so that nothing can interrupt it
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

        # @return [Integer] rows changed by the last statement
        def changes = @database.changes

        # @return [Boolean]
        def transaction_active? = @database.transaction_active?

        # @return [Integer] SQLite's extended error code
        def error_code = @database.errcode

        # Returns a statement's converters by column; empty if no column needs one.
        # @asynchronous
        def converters(sql, known)
          return @types[sql] if @types.key?(sql)
          key = sql.gsub(LITERAL, '\1')
          found = @types[key] || remember(key, converters_of(sql, known))
          @statements.key?(sql) ? remember(sql, found) : found # repeated with the same values
        end

        # Forgets what depends on the schema if this process (which counts its changes) or another one may have changed
        # it. SQLite recompiles a statement by itself, but extralite keeps the old columns.
        #
        # @param generation [Integer] this process's count of schema changes
        # @asynchronous
        def refresh(generation)
          now = Clock.now
          return if generation == @generation && now - @schema_checked < SCHEMA_CHECK
          @schema_checked = now
          version = run { @database.query_single_splat("PRAGMA schema_version") }
          unless version == @schema_version && generation == @generation
            schema_changed
            # SQLite notices a change only when a statement runs
            run { @database.query("SELECT 1 FROM sqlite_master LIMIT 1") }
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
          declared_types(shape)
            .filter_map { |name, type| (converter = known[Types.base(type)]) && [name.to_sym, converter] }.to_h.freeze
        end

        def remember(sql, converters)
          return converters if sql.bytesize > LONG
          @types.shift if @types.size >= STATEMENTS
          @types[sql] = converters
        end

        # extralite cannot return a statement's declared types, but SQLite knows those of a view's columns.
        def declared_types(shape)
          shape = "SELECT #{$2} FROM #{$1}" if RETURNING.match(shape)
          run { @database.execute("CREATE TEMP VIEW pelton_types AS #{shape}") }
          begin
            run { @database.query_array("PRAGMA temp.table_info(pelton_types)") }.map { |row| row.values_at(1, 2) }
          ensure
            run { @database.execute("DROP VIEW temp.pelton_types") }
          end
        rescue ::Extralite::Error # a PRAGMA, or another statement that cannot be a view
          []
        end

        # Takes a statement out of the cache while it is in use, so the same SQL may run again meanwhile.
        def take(sql) = (@statements.delete(sql) if sql.bytesize <= LONG) || @database.prepare_hash(sql)

        # Called by SQLite in the middle of a statement. An exception must not unwind SQLite's frames: it is stored, the
        # statement stops, and {#run} raises it.
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

        # Many short statements without a wait must let other fibers run, too; no other fiber having run since shows
        # that.
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
          if now - @locked_since > @timeout
            raise ::Extralite::BusyError, "the database has been locked by another process for #{@timeout} s"
          end
          sleep(LOCK_PAUSE)
        end

        # Ends the statement: SQLite stops at its next instruction, or stops waiting for the lock.
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
