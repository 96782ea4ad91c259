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
          'string{80}' and 'decimal{8,2}' have a size, 'string!' may not be null (in single quotes, for the shell), :index and :uniq make an index.

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
        end

        private

        attr_reader :name

        def path = "app/models/#{@name.path}.rb"

        def table = @name.plural.flat

        # Sequel finds the table of a model that is in no module by its name.
        def parent_class = @name.namespaces.any? ? "Sequel::Model(:#{table})" : "Sequel::Model"

        # Groups of lines, separated by empty lines.
        def body
          parents = @fields.select(&:references?).map { |field| "many_to_one :#{field.name}\n" }
          json = @fields.select(&:json?).map { |field| ", :#{field.name}" }
          serialized = json.any? ? "plugin :serialization, :json#{json.join}\n" : ""
          [parents.join, serialized, allowed, tokens, validations].reject(&:empty?).join("\n")
        end

        def allowed
          names = @fields.select(&:permitted?).map { |field| ":#{field.name}" }
          return "" if names.empty?
          "# Attributes that forms may set: leave out what users may not, such as a role.\n" \
            "set_allowed_columns #{names.join(", ")}\n"
        end

        def tokens
          lines = @fields.select(&:token?).map { |field| "  self.#{field.name} ||= SecureRandom.alphanumeric(24)\n" }
          lines.any? ? "def before_create\n#{lines.join}  super\nend\n" : ""
        end

        def tokens? = @fields.any?(&:token?)

        def validations
          names = @fields.filter_map(&:needed).map { |name| ":#{name}" }
          return "" if names.empty?
          "def validate\n  super\n  validates_presence #{(names.size > 1) ? "[#{names.join(", ")}]" : names.first}\n" \
          "end\n"
        end

        def samples = @fields.select(&:sample).to_h { |field| [field.name, field.sample] }

        def sample_attributes = samples.map { |name, value| "#{name}: #{value}" }.join(", ")

        def parent = @fields.find(&:references?)&.name
      end
    end
  end
end
