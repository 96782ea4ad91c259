# frozen_string_literal: true

require "fileutils"

module Pelton
  module Sequel
    class Migrations
      # A file with the schema as one migration, followed by the names of the applied migrations.
      # @private
      class Schema
        MARK = "__END__"

        # @param database [Sequel::Database]
        # @param file [String]
        def initialize(database, file)
          @database = database
          @file = file
        end

        # Writes the file atomically, so that readers never see a part of it.
        #
        # @return [Boolean] false if it has not changed
        # @asynchronous
        def write
          applied =
            @database.table_exists?(:schema_migrations) ? @database[:schema_migrations].select_map(:filename)
              .sort_by { |name| [name.to_i, name] } : []
          @database.extension(:schema_dumper)
          text = "# Written by pelton db. The migrations make it; do not change it here.\n" \
            "#{@database.dump_schema_migration(same_db: true)}\n#{MARK}\n#{applied.map { |name| "#{name}\n" }.join}"
          return false if File.file?(@file) && File.read(@file) == text
          FileUtils.mkdir_p(File.dirname(@file))
          part = "#{@file}.#{Process.pid}"
          File.write(part, text)
          File.rename(part, @file)
          true
        ensure
          FileUtils.rm_f(part) if part
        end

        # Creates the tables in an empty database.
        #
        # @return [Array<String>] the migrations that count as applied
        # @raise [ConfigurationError] if there is no such file, or the database is not empty
        # @raise [Failed] if the file cannot be applied
        # @asynchronous
        def load
          raise ConfigurationError, "there is no #{@file}: pelton db migrate writes it" unless File.file?(@file)
          text = File.read(@file)
          applied = text.split(/^#{MARK}$/o, 2)[1]&.split or
            raise ConfigurationError, "#{@file} does not name the migrations that have made it: write it again, by " \
              "pelton db schema on a database that has them"
          refuse_tables
          apply(migration(text), applied)
          applied
        end

        private

        def refuse_tables
          if @database.table_exists?(:schema_migrations) && @database[:schema_migrations].empty?
            @database.drop_table(:schema_migrations)
          end
          tables = @database.tables.sort
          return if tables.empty?
          raise ConfigurationError, "the database has tables already " \
            "(#{tables.first(3).join(", ")}#{", ..." if tables.size > 3}): " \
            "a schema is loaded into an empty one. pelton db drop and pelton db create make it so"
        end

        def migration(text)
          ::Sequel::Migrator::MUTEX.synchronize do
            found = eval(text, TOPLEVEL_BINDING.dup, @file) # standard:disable Security/Eval
            ::Sequel::Migration.descendants.delete(found)
            found
          end
        rescue SyntaxError, StandardError => error
          raise Failed, "#{@file} cannot be read: #{error.message}"
        end

        def apply(migration, applied)
          whole = %i[postgres sqlite].include?(@database.database_type)
          whole ? @database.transaction { fill(migration, applied) } : Unfinished.new(@database).note(@file, :load) do
            fill(migration, applied)
          end
        rescue ::Sequel::Error => error
          raise Failed, "#{@file} failed: #{error.message.strip} (#{error.class}). " \
            "#{whole ? "Nothing of it is left" : "Begin again with pelton db drop and pelton db create"}"
        end

        def fill(migration, applied)
          migration.apply(@database, :up)
          @database.create_table?(:schema_migrations) { String :filename, size: 190, primary_key: true }
          @database[:schema_migrations].import([:filename], applied.zip)
        end
      end
    end
  end
end
