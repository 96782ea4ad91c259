# frozen_string_literal: true

require_relative "connect"

module Pelton
  module Sequel
    # A folder's migrations, run by Sequel's migrator: files such as 20260131_create_posts.rb, in the order of their
    # numbers. One process at a time changes a database.
    class Migrations
      # Raised if a migration fails. The message says in what state the database is, and what to do.
      class Failed < Pelton::Error
      end

      # @return [Array<String>] the files' names, in order
      attr_reader :names

      # @param database [Sequel::Database]
      # @param folder [String]
      # @param timeout [Numeric] seconds to wait for another process that migrates
      # @param retry_unfinished [Boolean] whether to rerun a migration that was killed, without a transaction
      # @param waiting [#call, nil] called with a description of the other process, if this one has to wait
      # @raise [ConfigurationError] if there is no such folder, or it has no migrations
      def initialize(database, folder, timeout: Lock::TIMEOUT, retry_unfinished: false, waiting: nil)
        @database = database
        @folder = folder
        @lock = Lock.for(database, timeout: timeout)
        @retry = retry_unfinished
        @waiting = waiting
        @names =
          Dir[File.join(folder, "*.rb")].map { |path| File.basename(path).downcase }
            .grep(::Sequel::Migrator::MIGRATION_FILE_PATTERN).sort_by(&:to_i)
        if @names.empty?
          raise ConfigurationError, "there are no migrations in #{folder}: a file is called " \
            "#{Time.now.strftime("%Y%m%d")}_create_posts.rb, for example"
        end
      end

      # @return [Array<String>] names of applied migrations
      # @asynchronous
      def applied
        if @database.table_exists?(:schema_migrations)
          return @database[:schema_migrations].select_map(:filename).sort_by { |name| [name.to_i, name] }
        end
        # Sequel's numbered migrations
        @database.table_exists?(:schema_info) ? migrator(allow_missing_migration_files: true).applied_migrations : []
      end

      # @return [Array<String>]
      # @asynchronous
      def pending = names - applied

      # @return [String, nil] the migration whose process was killed
      # @asynchronous
      def unfinished = Unfinished.new(@database).find&.fetch(:filename)

      # Calls the block while no other process migrates the database.
      #
      # @return the block's value
      # @raise [Failed] if another process does not finish in time
      # @asynchronous
      def exclusively(&block) = @lock.hold(waiting: @waiting, &block)

      # Applies pending migrations.
      #
      # @yieldparam event [Symbol] :begun or :done
      # @yieldparam name [String]
      # @return [Array<String>] names of the applied migrations
      # @raise [Failed]
      # @asynchronous
      def migrate(&block) = exclusively { run(pending, nil, :up, &block) }

      # Reverts the last migrations.
      #
      # @param steps [Integer]
      # @return [Array<String>] names of the reverted migrations, the last one first
      # @raise [Failed]
      # @asynchronous
      def rollback(steps = 1, &block)
        exclusively do
          done = applied
          run(done.last(steps).reverse, (done.size > steps) ? done[-steps - 1].to_i : 0, :down, &block)
        end
      end

      private

      def migrator(**options) = Migrator.new(@database, @folder, options)

      def run(names, target, direction)
        check_unfinished
        return names if names.empty?
        @current = nil
        progress = Progress.new do |event, name|
          @current = (name if event == :begun)
          yield event, name if block_given?
        end
        @database.loggers << progress
        migrator(**{target: target}.compact).run
        names
      rescue Migrator::Unreadable => error
        raise Failed,
          "#{error.message}. No migration was applied: mend the file and run pelton db #{verb(direction)} again"
      rescue ::Sequel::Migrator::Error => error
        raise Failed, "the migrations in #{@folder} cannot be applied: #{error.message}"
      rescue ::Sequel::Error, Pelton::Error, ScriptError, StandardError => error
        raise if @current.nil?
        raise Failed, explain(error, direction)
      ensure
        @database.loggers.delete(progress)
      end

      def check_unfinished
        notes = Unfinished.new(@database)
        found = notes.find or return
        return notes.forget if @retry
        name, begun = found.values_at(:filename, :begun)
        if found[:direction] == "load"
          raise Failed, "#{name} was being loaded when its process ended (begun #{begun}): begin again with pelton " \
            "db drop, create and schema load"
        end
        raise Failed, "#{name} did not end: begun #{begun}, without a transaction, so some of its statements may be " \
          "done, or all. Compare the database with the " \
          "file, undo what is done or leave it out of the file, then run pelton db #{verb(found[:direction].to_sym)} " \
          "--retry"
      end

      def verb(direction) = (direction == :up) ? "migrate" : "rollback"

      def explain(error, direction)
        file = File.join(@folder, @current)
        state =
          if in_transaction?(file)
            "Nothing of it is left: it ran in a transaction. Mend the file and run pelton db #{verb(direction)} again"
          else
            "Its statements before the failing one are done, and stay: " \
            "#{(@database.database_type == :mysql) ? "MySQL cannot take them back" : "the file has no_transaction"}. " \
              "Undo them by hand, or leave them out of the file; then run pelton db #{verb(direction)} again"
          end
        line = Migrator.line_of(error, file)
        "#{file}#{":#{line}" if line} failed: #{error.message.strip} (#{error.class}). #{state}. The migrations " \
        "before it are #{(direction == :up) ? "applied" : "taken back"}"
      end

      def in_transaction?(file) = @database.database_type != :mysql && !File.read(file).match?(/^\s*no_transaction\b/)

      # Reports what Sequel's migrator logs.
      class Progress
        def initialize(&block)
          @block = block
        end

        def info(text)
          return unless text =~ /\A(Begin|Finished) applying migration (\S+), direction/
          @block.call(($1 == "Begin") ? :begun : :done, $2)
        end

        def warn(_text)
        end

        def error(_text)
        end
      end
      private_constant :Progress
    end
  end
end

::Sequel.extension(:migration)
require_relative "migrations/lock"
require_relative "migrations/migrator"
require_relative "migrations/schema"
