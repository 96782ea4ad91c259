# frozen_string_literal: true

module Pelton
  module Web
    module Generators
      # `pelton generate migration`, which takes what to do from the name.
      # @private
      class Migration < Generator
        SUMMARY = "a change of the database"
        USAGE = <<~TEXT.freeze
          usage: pelton generate migration NAME [COLUMN:TYPE:INDEX ...] [options]

          Writes db/migrate/TIME_NAME.rb. The name says what it does:

            create_posts title:string body:text            makes a table
            add_slug_to_posts slug:string:uniq             adds columns
            remove_slug_from_posts slug:string:uniq        removes columns; with their types it can be taken back
            anything else                                  is empty

          Types: #{Field::NAMES.join(", ")} (time and timestamp are datetime).
          'string{80}' and 'decimal{8,2}' have a size, 'string!' may not be null (in single quotes, for the shell), :index and :uniq make an
          index.

        TEXT
        ARGUMENTS = (1..)
        FOLDER = "db/migrate"
        private_constant :FOLDER

        # @param timestamps [Boolean] whether a new table gets created_at and updated_at
        def initialize(files, name, *columns, timestamps: true)
          super(files)
          need_database
          @name = Name.new(name, "migration")
          raise Refused, "the name of a migration has no folders: #{name}" if @name.namespaces.any?
          @fields = columns.map { |column| Field.new(column) }
          twice = @fields.map(&:name).tally.select { |_, count| count > 1 }.keys
          raise Refused, "there are two columns #{twice.first}" if twice.any?
          @timestamps = timestamps
        end

        # @return [String] an existing migration of this name, or a new file with a later number than all others
        def self.path(files, name)
          there = Dir[File.join(files.root, FOLDER, "*.rb")].map { |file| File.basename(file) }
          same = there.find { |file| file.match?(/\A\d+_#{name}\.rb\z/) }
          time = [Time.now.utc.strftime("%Y%m%d%H%M%S").to_i, (there.map(&:to_i).max || 0) + 1].max
          File.join(FOLDER, same || "#{time}_#{name}.rb")
        end

        def write = write_template("migration/migration.rb", Migration.path(@files, @name.last))

        attr_reader :fields

        # @return [String] the lines in the migration's block
        def body
          case @name.last
          when /\Acreate_(\w+)\z/ then change(table_block("create_table(:#{$1})",
            ["primary_key :id", *fields.flat_map(&:columns), *timestamps]))
          when /\Aadd_\w+?_to_(\w+)\z/ then change(table_block("alter_table(:#{$1})", fields.flat_map(&:additions)))
          when /\Aremove_\w+?_from_(\w+)\z/ then removal($1)
          else change("")
          end
        end

        private

        def timestamps = @timestamps ? ["DateTime :created_at, null: false", "DateTime :updated_at, null: false"] : []

        def removal(table)
          return change("") if fields.empty?
          "up do\n#{indent(table_block("alter_table(:#{table})", fields.flat_map(&:removals)))}end\n\n" \
            "down do\n#{indent(table_block("alter_table(:#{table})", fields.flat_map(&:additions)))}end\n"
        end

        def change(text) = "change do\n#{indent(text)}end\n"

        def table_block(head, lines)
          lines.empty? ? "" : "#{head} do\n#{indent(lines.map { |line| "#{line}\n" }.join)}end\n"
        end

        def indent(text) = text.gsub(/^(?=.)/, "  ")
      end
    end
  end
end
