# frozen_string_literal: true

require_relative "unfinished"

module Pelton
  module Sequel
    class Migrations
      # Sequel's migrator, which also uses transactions on SQLite, and notes migrations that run without one.
      # @private
      class Migrator < ::Sequel::TimestampMigrator
        # Raised if a file cannot be loaded.
        class Unreadable < Pelton::Error
        end

        # @param error [Exception]
        # @param file [String]
        # @return [Integer, nil] the line in the file that raised the error
        def self.line_of(error, file)
          error.backtrace
            &.filter_map { |line| line[/\A(?:#{Regexp.union(file, File.expand_path(file))}):(\d+)/, 1] }
            &.first
            &.to_i
        end

        private

        def load_migration_file(file)
          super
        rescue SyntaxError => error
          message = error.message.lines.reject { |line| line.strip.empty? }.first(4).join.strip
          raise Unreadable, message.start_with?(file) ? message : "#{file}: #{message}"
        rescue ::Sequel::Migrator::Error
          raise Unreadable, "#{file}: it needs one `Sequel.migration do ... end`, and no more"
        rescue StandardError, LoadError => error
          raise Unreadable,
            "#{file}:#{Migrator.line_of(error, file)}: #{error.message.lines.first.strip} (#{error.class})"
        end

        def apply_migration(migration, file_name, direction)
          return super if in_transaction?(migration)
          Unfinished.new(db).note(file_name.downcase, direction) { super }
        end

        def checked_transaction(migration, &block)
          return super unless sqlite? && in_transaction?(migration)
          without_foreign_keys { db.transaction { yield.tap { check_foreign_keys } } }
        end

        # MySQL commits after each statement that changes tables, whatever the migration says.
        def in_transaction?(migration) = migration.use_transactions != false && db.database_type != :mysql

        def sqlite? = db.database_type == :sqlite

        # Sequel changes a table by recreating it. Foreign keys must not follow, and they cannot be turned off inside a
        # transaction.
        def without_foreign_keys
          db.synchronize do
            next yield unless db.fetch("PRAGMA foreign_keys").single_value == 1
            begin
              db.run("PRAGMA foreign_keys = 0")
              @violations = violations
              yield
            ensure
              db.run("PRAGMA foreign_keys = 1")
            end
          end
        end

        def violations
          db.fetch('SELECT "table", parent, count(*) AS n FROM pragma_foreign_key_check GROUP BY 1, 2')
            .to_hash(%i[table parent], :n)
        end

        def check_foreign_keys
          return unless @violations
          found = violations.find { |tables, count| count > @violations.fetch(tables, 0) } or return
          raise ::Sequel::ForeignKeyConstraintViolation, "#{found.last} rows of #{found.first.first} name rows of " \
            "#{found.first.last} that are not there. " \
            "Foreign keys are off in a migration's transaction (no ON DELETE happens): delete such rows in it, or " \
            "begin it with no_transaction"
        end
      end
    end
  end
end
