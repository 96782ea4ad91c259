# frozen_string_literal: true

module Pelton
  module Web
    module Generators
      # `pelton generate model`: a model, its table's migration and a test.
      # @private
      class Model < Generator
        SUMMARY = "a model, the migration that makes its table, and a test"
        USAGE = <<~TEXT.freeze
          usage: pelton generate model NAME [COLUMN:TYPE:INDEX ...] [options]

          Writes app/models/NAME.rb, db/migrate/TIME_create_NAMES.rb and test/models/NAME_test.rb. For example:

            pelton generate model post title:string! body:text user:references published_at:time
            pelton generate model admin/visit 'page:string{200}:index'

          Types: #{Field::NAMES.join(", ")} (time and timestamp are datetime).
          'string{80}' and 'decimal{8,2}' have a size, 'string!' may not be null (in single quotes, for the shell), references{polymorphic} leads to
          objects of several models, :index and :uniq make an index.

        TEXT
        ARGUMENTS = (1..)

        # (see Generator.options)
        def self.options(parser, options)
          parser.on("--no-migration", "without the migration: the table is there") { options[:migration] = false }
          parser.on("--no-timestamps", "without the columns created_at and updated_at") { options[:timestamps] = false }
        end

        def initialize(files, name, *columns, migration: true, timestamps: true)
          super(files)
          @name = Name.new(name, "model").singular
          check_constant(@name.constant, path)
          @migration = Migration.new(files, "create_#{table}", *columns, timestamps: timestamps)
          @fields = @migration.fields
          @migrates = migration
        end

        def write
          @migration.write if @migrates
          write_template("model/model.rb", path)
          write_template("model/test.rb", "test/models/#{@name.path}_test.rb")
          @name.namespaces.each_index { |depth| write_namespace(@name.parts[0..depth]) }
        end

        private

        attr_reader :name

        def path = "app/models/#{@name.path}.rb"

        def table = @name.plural.flat

        # Writes a module with the prefix of its models' tables, unless it exists.
        def write_namespace(parts)
          file = "app/models/#{parts.join("/")}.rb"
          return if @files.read(file)
          opened = parts.each_with_index.map { |part, depth| "#{"  " * depth}module #{Name.camel(part)}\n" }.join
          inner = "#{"  " * parts.size}def self.table_name_prefix = \"#{parts.join("_")}_\"\n"
          @files.write(file, "# frozen_string_literal: true\n\n#{opened}#{inner}#{parts.each_index.map { |depth| "#{"  " * depth}end\n" }.reverse.join}")
        end

        # Groups of lines, separated by empty lines.
        def body
          parents = @fields.select(&:references?).map { |field| "belongs_to :#{field.name}#{", polymorphic: true" if field.polymorphic?}\n" }
          own = @fields.select(&:token?).map { |field| "has_secure_token :#{field.name}\n" } +
            @fields.select(&:json?).map { |field| "attribute :#{field.name}, :json, default: -> { {} }\n" }
          permitted = @fields.select(&:permitted?).map { |field| ":#{field.name}" }
          permits = permitted.any? ? ["# Attributes that forms may set.\npermits #{permitted.join(", ")}\n"] : []
          [parents, own, permits].map(&:join).reject(&:empty?).join("\n")
        end

        def samples = @fields.select(&:sample).to_h { |field| [field.name, field.sample] }

        def sample_attributes = samples.map { |name, value| "#{name}: #{value}" }.join(", ")

        def parent = @fields.find(&:references?)&.name
      end
    end
  end
end
