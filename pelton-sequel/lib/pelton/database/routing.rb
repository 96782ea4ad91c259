# frozen_string_literal: true

module Pelton
  module Database
    # Which server gets a statement, where some only read. Sequel asks by the method that sends it, and takes what gives rows for a read:
    # `INSERT ... RETURNING` as a text, a writing WITH, `SELECT nextval('ids')`. Those go to the primary here.
    #
    # What a function of the program's own does cannot be seen: `dataset.server(:default)`.
    # @private
    module Routing
      READS = /\A[\s(]*(?:SELECT|WITH|VALUES|TABLE|SHOW|EXPLAIN|DESCRIBE|DESC|PRAGMA)\b/i
      WRITES = /\b(?:INSERT|UPDATE|DELETE|MERGE|REPLACE|INTO|FOR\s+(?:NO\s+KEY\s+|KEY\s+)?(?:UPDATE|SHARE)|LOCK\s+IN|nextval|setval|currval|lastval|set_config|pg_(?:try_)?advisory\w*|
        pg_notify|pg_(?:cancel|terminate)_backend|lo_\w+|txid_current|get_lock|release_(?:all_)?locks?|is_(?:free|used)_lock|last_insert_id)\b/xi
      SEEN = 1000 # characters of a statement of Sequel's that are looked at: what writes stands in front of conditions and their values
      private_constant :READS, :WRITES, :SEEN

      # (see Sequel::Dataset#execute)
      def execute(sql, options = Sequel::OPTS, &block)
        return super if options.key?(:server) || @opts[:server] || @opts[:lock] || sql.is_a?(Symbol)
        return super(sql, {**options, server: :default}, &block) unless Routing.reads?(sql, whole: @opts[:sql] || @opts[:with], functions: db.database_type != :sqlite)
        db.pool.replicas ? execute_somewhere(sql, options, &block) : super
      end

      # @param sql [String]
      # @param whole [Boolean] whether all of it may have what writes, and not its begin alone
      # @param functions [Boolean] whether a SELECT can write
      # @return [Boolean] false where it writes, or may do so
      def self.reads?(sql, whole: true, functions: true)
        sql = sql.b unless sql.valid_encoding?
        return false unless sql.match?(READS)
        return true unless functions || sql.match?(/\A[\s(]*(?:WITH|EXPLAIN)\b/i)
        !((whole || sql.size <= SEEN) ? sql : sql[0, SEEN]).match?(WRITES)
      end

      private

      # A replica whose session ends has done nothing that another one, or the primary, could not do again.
      def execute_somewhere(sql, options, &block)
        begun = false
        left = db.pool.replicas.size
        begin
          db.execute(sql, {**options, server: :read_only}) do |rows|
            begun = true
            block&.call(rows)
          end
        rescue Sequel::DatabaseDisconnectError
          raise if begun || left.zero? || db.pool.held_by?(Fiber.current)
          left -= 1
          retry
        end
      end
    end
  end
end
