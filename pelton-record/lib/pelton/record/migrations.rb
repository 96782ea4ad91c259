# frozen_string_literal: true

require_relative "error"

module Pelton
  module Record
    # The migrations of a folder, by Sequel's migrator: files like 20260131_create_posts.rb, applied in the order of their numbers.
    class Migrations
      # A migration failed. The message says what state the database is in, and what to do.
      class Failed < Pelton::Error
      end

      # Why a migration ran without a transaction, by the kind of database.
      WITHOUT = {mysql: "MySQL cannot take them back", sqlite: "a migration of SQLite runs without a transaction, in which foreign keys could not be switched off"}.freeze
      private_constant :WITHOUT

      # @return [Array<String>] the names of the files, in their order
      attr_reader :names

      # @param database [Sequel::Database]
      # @param folder [String]
      # @raise [ConfigurationError] when there is no such folder, or it has no migrations
      def initialize(database, folder)
        Sequel.extension(:migration)
        @database = database
        @folder = folder
        @names = Dir[File.join(folder, "*.rb")].map { |path| File.basename(path).downcase }.grep(Sequel::Migrator::MIGRATION_FILE_PATTERN).sort_by(&:to_i)
        raise ConfigurationError, "there are no migrations in #{folder}: a file is called #{Time.now.strftime("%Y%m%d")}_create_posts.rb, for example" if @names.empty?
      end

      # @return [Array<String>] the names of those that have been applied
      # @asynchronous
      def applied = migrator(allow_missing_migration_files: true).applied_migrations.sort_by(&:to_i)

      # @return [Array<String>]
      # @asynchronous
      def pending = names - applied

      # Applies the pending ones.
      #
      # @yieldparam event [Symbol] :begun or :done
      # @yieldparam name [String]
      # @return [Array<String>] the names of those that were applied
      # @raise [Failed]
      # @asynchronous
      def migrate(&block) = run(pending, nil, :up, &block)

      # Takes the last ones back.
      #
      # @param steps [Integer]
      # @return [Array<String>] the names of those that were taken back, the last one first
      # @raise [Failed]
      # @asynchronous
      def rollback(steps = 1, &block)
        done = applied
        run(done.last(steps).reverse, (done.size > steps) ? done[-steps - 1].to_i : 0, :down, &block)
      end

      private

      def migrator(**options) = Sequel::TimestampMigrator.new(@database, @folder, options)

      def run(names, target, direction)
        return names if names.empty?
        progress = Progress.new do |event, name|
          @current = name
          yield event, name if block_given?
        end
        @database.loggers << progress
        migrator(**{target: target}.compact).run
        names
      rescue Sequel::Migrator::Error => error
        raise Failed, "the migrations in #{@folder} cannot be applied: #{error.message}"
      rescue Sequel::Error, Pelton::Error, ScriptError, StandardError => error
        raise if @current.nil?
        raise Failed, explain(error, direction)
      ensure
        @database.loggers.delete(progress)
      end

      def explain(error, direction)
        file = File.join(@folder, @current)
        verb = (direction == :up) ? "migrate" : "rollback"
        state =
          if in_transaction?(file)
            "Nothing of it is left: it ran in a transaction. Mend the file and run pelton db #{verb} again"
          else
            "Its statements before the failing one are done, and stay: #{WITHOUT[@database.database_type] || "the file has no_transaction"}. " \
              "Undo them by hand, or leave them out of the file; then run pelton db #{verb} again"
          end
        "#{file} failed: #{error.message.strip} (#{error.class}). #{state}. The migrations before it are applied"
      end

      def in_transaction?(file)
        @database.supports_transactional_ddl? && !File.read(file).match?(/^\s*no_transaction\b/)
      end

      # Sequel's migrator tells loggers what it begins and what it has done.
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
