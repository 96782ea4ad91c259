# frozen_string_literal: true

module Pelton
  module Web
    class Params
      # A declaration of parameters, for `params.permit`. The response names all mistakes of a request.
      #
      #     POST = Pelton::Web::Params::Schema.new do
      #       required :title, :string, max: 100
      #       optional :published, :boolean, default: false
      #       optional :tags, [:string], max: 10
      #       required :author do
      #         required :name, :string
      #       end
      #     end
      class Schema
        Field = Struct.new(:name, :type, :required, :options, :fields)
        private_constant :Field

        # Evaluates the block, which calls {#required} and {#optional}.
        def initialize(&block)
          @fields = []
          instance_exec(&block)
          @fields.freeze
          freeze
        end

        # Declares a parameter that must be present and not empty.
        #
        # @param type [Symbol, Array<Symbol>] a type of {Types}; in an Array, a list of such elements. With a block the
        #   parameter is a group of fields, which the block declares
        # @param options [Hash] see {Types::OPTIONS}
        # @raise [ArgumentError] if there is no such type or option
        def required(name, type = :string, **options, &block) = add(name, type, true, options, block)

        # Declares a parameter that may be missing. Then the result lacks it, too, unless there is a `default:`.
        #
        # @raise (see #required)
        def optional(name, type = :string, **options, &block) = add(name, type, false, options, block)

        # @param values [Hash{String => Object}]
        # @param prefix [String, nil] the name of the group
        # @return [Hash{Symbol => Object}] the declared parameters, converted
        # @raise [Invalid]
        def read(values, prefix = nil)
          errors = {}
          collect(values, prefix, errors).tap { raise Invalid, errors if errors.any? }
        end

        # @private
        def collect(values, prefix, errors)
          @fields.each_with_object({}) do |field, result|
            name = prefix ? "#{prefix}[#{field.name}]" : field.name.to_s
            value = values[field.name.to_s]
            if value.nil? || value == ""
              errors[name] = "is missing" if field.required
              result[field.name] = field.options[:default] if field.options.key?(:default)
            else
              catch(field) { result[field.name] = converted(field, value, name, errors) }
            end
          end
        end

        private

        def add(name, type, required, options, block)
          type, options = :array, {of: type.first}.merge(options) if type.is_a?(Array)
          fields = Schema.new(&block) if block
          Types.check(type, options.except(:default)) unless fields
          @fields << Field.new(name.to_sym, type, required, options, fields)
          nil
        end

        def converted(field, value, name, errors)
          complain = lambda do |complaint|
            errors[name] = complaint
            throw field
          end
          return Types.convert(value, field.type, field.options.except(:default), &complain) unless field.fields
          value.is_a?(Hash) ? field.fields.collect(value, name, errors) : complain.call("must be a group of fields")
        end
      end
    end
  end
end
