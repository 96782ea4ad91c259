# frozen_string_literal: true

module Pelton
  module Sequel
    module SQLite
      # Sequel's database for SQLite through extralite.
      class Database < ::Sequel::Database
        include ::Sequel::SQLite::DatabaseMethods

        set_adapter_scheme :"pelton-sqlite" # in an address, whose scheme has no underscore
        set_adapter_scheme :pelton_sqlite

        VERSION = ::Extralite.sqlite3_version.split(".").first(3).map(&:to_i).zip([10_000, 100,
          1]).sum { |number, weight| number * weight }
        private_constant :VERSION

        # Reads an address: `Sequel.connect("pelton-sqlite://app.db")`, with what {Address} knows.
        # @private
        def self.options_from_uri(uri) = Address.new(uri.to_s).options
        private_class_method :options_from_uri

        # @return [Checkpoints, nil] nil for a database in memory
        attr_reader :checkpoints

        # @return [Integer] number of schema changes by this process
        attr_reader :schema_generation

        # @return [Hash{String => #call}] converters by declared column type
        attr_reader :conversion_procs

        # Sequel asks for it at the beginning of the first transaction. Its query could be cancelled there, and the
        # transaction would be half begun.
        # @return [Integer] 3.49.1 as 34_901
        def sqlite_version = VERSION

        # Opens a connection.
        # @asynchronous
        def connect(server)
          options = server_opts(server)
          connection = Connection.new(options.fetch(:database), timeout: lock_timeout(options),
            readonly: typecast_value_boolean(options[:readonly]))
          [*connection_pragmas, *file_pragmas(options)].each { |sql| connection.execute(sql) }
          connection
        end

        def disconnect_connection(connection) = connection.close

        # @yieldparam cursor [Cursor]
        # @asynchronous
        def execute(sql, options = ::Sequel::OPTS)
          with_connection(sql, options) do |connection, text, arguments|
            cursor = log_connection_yield(text, connection, arguments) do
              connection.select(text, arguments, @conversion_procs, options[:like] || text)
            end
            begin
              yield cursor if block_given?
            ensure
              cursor.close
            end
          end
        end

        # @return [Integer] number of changed rows
        # @asynchronous
        def execute_dui(sql, options = ::Sequel::OPTS) = write(sql, options, &:changes)

        # @asynchronous
        def execute_ddl(sql, options = ::Sequel::OPTS)
          perform(sql, options) do |connection, text, arguments|
            connection.schema_changed
            connection.execute(text, arguments)
            @schema_generation += 1
          end
          nil
        end

        # @return [Integer] the new row's id
        # @asynchronous
        def execute_insert(sql, options = ::Sequel::OPTS) = write(sql, options, &:last_insert_rowid)

        def freeze
          @conversion_procs.freeze
          super
        end

        # A time may be stored as text, as seconds, or as a Julian day.
        def to_application_timestamp(value)
          case value
          when String then Types.time(value, zone_of_times) || super
          when Integer then super(Time.at(value).to_s)
          when Float then super(DateTime.jd(value).to_s)
          else super
          end
        end

        private

        def adapter_initialize
          if typecast_value_boolean(opts[:setup_regexp_function])
            raise ::Sequel::Error, "pelton_sqlite has no functions in Ruby, so none for regular expressions: leave " \
              "setup_regexp_function out, and use LIKE or GLOB"
          end
          @conversion_procs = Types::ALL.dup
          @conversion_procs["datetime"] = @conversion_procs["timestamp"] = method(:to_application_timestamp)
          @schema_generation = 0
          unless opts[:database] == ":memory:"
            @checkpoints = Checkpoints.new(opts[:database]) { |&work| synchronize(&work) }
          end
          # A transaction that began by reading could not wait for the lock at its first write
          self.transaction_mode = :immediate
          set_integer_booleans
          extension(:pelton_pool)
        end

        # One connection writes, and the others read at the same time. A database in memory has only one.
        def connection_pool_default_options
          file = ![nil, ":memory:"].include?(@opts[:database])
          if file
            readers = {servers: {read_only: {}}, server_sizes: {default: 1, read_only: @opts[:max_connections] || 4}}
          end
          super.merge(pool_class: Pool, database: ":memory:", server_sizes: {default: 1}, **readers.to_h)
        end

        # The zone in which times are stored and wanted: :utc, or :local if the program has set none; nil if they must
        # be converted.
        def zone_of_times
          return unless ::Sequel.datetime_class == Time
          stored, wanted = timezone, ::Sequel.application_timezone
          return :local if stored.nil? && wanted.nil?
          :utc if stored == :utc && [nil, :utc].include?(wanted)
        end

        # After the options' own, since auto_vacuum cannot be set once the log is on.
        def file_pragmas(options)
          return [] if options[:database] == ":memory:"
          ["PRAGMA wal_autocheckpoint = 0", "PRAGMA journal_mode = WAL", "PRAGMA journal_size_limit = 0",
            *("PRAGMA synchronous = NORMAL" unless opts[:synchronous])]
        end

        # Sequel's option `timeout` is in milliseconds.
        def lock_timeout(options)
          options[:timeout] ? Float(options[:timeout]) / 1000 : Float(options[:pool_timeout] || 5)
        end

        # Yields the connection that has run the statement.
        def write(sql, options)
          perform(sql, options) do |connection, text, arguments|
            connection.execute(text, arguments)
            yield connection
          end
        ensure
          written
        end

        def perform(sql, options)
          with_connection(sql, options) do |connection, text, arguments|
            log_connection_yield(text, connection, arguments) { yield connection, text, arguments }
          end
        end

        def with_connection(sql, options)
          arguments = options[:arguments]
          synchronize(options[:server]) do |connection|
            text = sql.is_a?(Symbol) ? prepared_statement(sql).prepared_sql : sql
            arguments &&= bind(arguments)
            connection.refresh(@schema_generation)
            yield connection, text, arguments
          rescue ::Extralite::Error => error
            raise_error(advised(error), code: connection.error_code)
          end
        end

        FULL_TEXT = "extralite-bundle was compiled without full-text search: " \
          "bundle config set build.extralite-bundle --with-cppflags=-DSQLITE_ENABLE_FTS5, " \
          "and install it again (gem uninstall extralite-bundle, bundle install)"
        private_constant :FULL_TEXT

        def advised(error)
          error.message.include?("no such module: fts") ? error.exception("#{error.message}: #{FULL_TEXT}") : error
        end

        def commit_transaction(connection, options = ::Sequel::OPTS)
          super
          written
        end

        def written = @checkpoints&.written

        # @return [Array] as extralite binds them
        def bind(arguments)
          return [arguments.transform_values { |value| Types.bind(value, self) }] if arguments.is_a?(Hash)
          arguments.map do |value|
            value.is_a?(Hash) ? value.transform_values { |one| Types.bind(one, self) } : Types.bind(value, self)
          end
        end

        def connection_execute_method = :execute

        def database_error_classes = [::Extralite::Error]

        def dataset_class_default = Dataset

        def database_specific_error_class(error, options)
          return ::Sequel::DatabaseLockTimeout if error.is_a?(::Extralite::BusyError)
          @error_code = options[:code] || options[:conn]&.error_code
          super
        end

        def sqlite_error_code(_error) = @error_code
      end
    end
  end
end
