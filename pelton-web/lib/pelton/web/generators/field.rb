# frozen_string_literal: true

module Pelton
  module Web
    module Generators
      # A column on the command line, NAME:TYPE:INDEX: `title`, `title:string{80}:uniq`, `price:decimal{8,2}`,
      # `email:string!`, `user:references`.
      # @private
      class Field
        # Methods of Sequel's migrations, their options, and a sample value as Ruby code.
        TYPES = {
          "string" => ["String", {}, '"Text"'], "text" => ["String", {text: true}, '"Text"'],
          "integer" => ["Integer", {}, "1"], "bigint" => ["Bignum", {}, "1"], "float" => ["Float", {}, "1.5"],
          "decimal" => ["BigDecimal", {size: [10, 2]}, 'BigDecimal("1.5")'],
          "boolean" => ["TrueClass", {null: false, default: false}, "true"],
          "date" => ["Date", {}, "Date.new(2026, 1, 2)"], "datetime" => ["DateTime", {}, "Time.at(1_767_312_000)"],
          "binary" => ["File", {}, '"Text"'], "json" => ["String", {text: true}, '{"key" => "value"}'],
          "token" => ["String", {size: 24}, nil]
        }.freeze
        SAME = {"time" => "datetime", "timestamp" => "datetime", "belongs_to" => "references"}.freeze
        REFERENCES = "references"
        NAMES = [*TYPES.keys, REFERENCES].freeze
        INDICES = {"index" => true, "uniq" => {unique: true}, "unique" => {unique: true}}.freeze
        FORM =
          /\A(?<name>[a-z_][a-z0-9_]*)
            (?::(?<type>[a-z_]+)(?:\{(?<size>[\w,. ]+)\})?(?<required>!)?)?
            (?::(?<index>[a-z]+))?\z/x
        # Names of methods that models need.
        TAKEN =
          %w[attributes class dup errors freeze hash id method methods model new object_id save send table valid
            validate values].freeze
        private_constant :TYPES, :SAME, :REFERENCES, :INDICES, :FORM, :TAKEN

        attr_reader :name

        def initialize(text)
          parts =
            FORM.match(text) || raise(Refused,
              "#{text.inspect} is no column: write NAME:TYPE:INDEX, as in title:string:index or price:decimal{8,2}")
          @name = parts[:name]
          @type = SAME.fetch(parts[:type], parts[:type]) || "string"
          @size = parts[:size]&.delete(" ")
          @required = !parts[:required].nil?
          @index = parts[:index]
          check
        end

        def references? = @type == REFERENCES

        def token? = @type == "token"

        def json? = @type == "json"

        # @return [String, nil] the column that an object cannot be without
        def needed
          return "#{@name}_id" if references?
          @name if @required && !token? && @type != "boolean"
        end

        # @return [Boolean] whether a form may set it
        def permitted? = !references? && !token?

        # @return [String, nil] a sample value as Ruby code; nil if none is needed
        def sample = references? ? nil : TYPES.fetch(@type).last

        # @return [Array<String>] lines of `create_table`
        def columns
          return ["foreign_key :#{@name}_id, :#{table}, #{literal(null: false, index: index || true)}"] if references?
          ["#{kind} :#{@name}#{options({index: index}.compact)}"]
        end

        # @return [Array<String>] lines of `alter_table` that add it; existing rows have no value for it
        def additions
          return ["add_foreign_key :#{@name}_id, :#{table}", "add_index :#{@name}_id#{unique}"] if references?
          ["add_column :#{@name}, #{(kind == "Bignum") ? ":Bignum" : kind}#{options}",
            *("add_index :#{@name}#{unique}" if index)]
        end

        # @return [Array<String>] lines of `alter_table` that remove it
        def removals
          return ["drop_index :#{@name}_id", "drop_foreign_key :#{@name}_id"] if references?
          [*("drop_index :#{@name}" if index), "drop_column :#{@name}"]
        end

        private

        def check
          unless NAMES.include?(@type)
            raise Refused, "there is no type #{@type}, of the column #{@name}: there are #{NAMES.join(", ")}"
          end
          if TAKEN.include?(@name)
            raise Refused, "#{@name} is a method of all models: choose another name for the column"
          end
          unless @index.nil? || INDICES.key?(@index)
            raise Refused, "#{@name} has the index #{@index}: write index or uniq"
          end
          fits = case @type
          when "string", "token" then /\A\d+\z/
          when "decimal" then /\A\d+(?:,\d+)?\z/
          else /\A\z/
          end
          raise Refused, "#{@name}:#{@type} cannot have {#{@size}}" unless @size.nil? || @size.match?(fits)
        end

        def table = Name.plural(@name)

        def kind = TYPES.fetch(@type).first

        def index = token? ? INDICES.fetch("uniq") : INDICES[@index]

        def unique = (index.is_a?(Hash) ? ", unique: true" : "")

        def options(more = {})
          options = TYPES.fetch(@type)[1].dup
          options[:size] = @size.include?(",") ? @size.split(",").map(&:to_i) : @size.to_i if @size
          options[:null] = false if @required
          options.update(more)
          options.empty? ? "" : ", #{literal(options)}"
        end

        def literal(options)
          options.map { |name, value| "#{name}: #{value.is_a?(Hash) ? "{#{literal(value)}}" : value.inspect}" }
            .join(", ")
        end
      end
    end
  end
end
