# frozen_string_literal: true

module Pelton
  module Sequel
    # Chooses the server for a statement if there are replicas. Sequel goes by the method that sends it, and takes
    # anything that returns rows for a read: `INSERT ... RETURNING` as text, a writing WITH, `SELECT nextval('ids')`.
    # This sends those to the primary.
    #
    # It cannot know what the program's own SQL functions do: use `dataset.server(:default)` if they write.
    # @private
    module Routing
      READS = /\A[\s(]*(?:SELECT|WITH|VALUES|TABLE|SHOW|EXPLAIN|DESCRIBE|DESC|PRAGMA)\b/i
      WRITES = /\b(?:INSERT|UPDATE|DELETE|MERGE|REPLACE|INTO|
        FOR\s+(?:NO\s+KEY\s+|KEY\s+)?(?:UPDATE|SHARE)|LOCK\s+IN|
        nextval|setval|currval|lastval|set_config|pg_(?:try_)?advisory\w*|
        pg_notify|pg_(?:cancel|terminate)_backend|lo_\w+|txid_current|
        get_lock|release_(?:all_)?locks?|is_(?:free|used)_lock|last_insert_id)\b/xi
      # Characters of Sequel's own statements to examine: the writing part comes before conditions and their values
      SEEN = 1000
      private_constant :READS, :WRITES, :SEEN

      # (see Sequel::Dataset#execute)
      def execute(sql, options = ::Sequel::OPTS, &block)
        return super if options.key?(:server) || @opts[:server] || @opts[:lock] || sql.is_a?(Symbol)
        unless Routing.reads?(sql, whole: @opts[:sql] || @opts[:with], functions: db.database_type != :sqlite)
          return super(sql, {**options, server: :default}, &block)
        end
        db.pool.replicas ? execute_somewhere(sql, options, &block) : super
      end

      # @param sql [String]
      # @param whole [Boolean] whether to examine all of the text rather than its beginning
      # @param functions [Boolean] whether a SELECT can write
      # @return [Boolean] false if it writes, or may write
      def self.reads?(sql, whole: true, functions: true)
        sql = sql.b unless sql.valid_encoding?
        return false unless sql.match?(READS)
        return true unless functions || sql.match?(/\A[\s(]*(?:WITH|EXPLAIN)\b/i)
        !((whole || sql.size <= SEEN) ? sql : sql[0, SEEN]).match?(WRITES)
      end

      private

      # A replica whose session ends has done nothing that cannot be repeated on another one, or on the primary.
      def execute_somewhere(sql, options, &block)
        begun = false
        left = db.pool.replicas.size
        begin
          db.execute(sql, {**options, server: :read_only}) do |rows|
            begun = true
            block&.call(rows)
          end
        rescue ::Sequel::DatabaseDisconnectError
          raise if begun || left.zero? || db.pool.held_by?(Fiber.current)
          left -= 1
          retry
        end
      end
    end
  end
end
