# frozen_string_literal: true

require "json"

module Pelton
  module Record
    # The types of `attribute`: ActiveModel's and JSON. A type has cast, serialize and deserialize.
    module AttributeTypes
      # A JSON value, which may be changed in place, in a text column. Read by JSON.parse, which creates no objects of other classes.
      class Json < ActiveModel::Type::Value
        # @return [Symbol]
        def type = :json

        # @return [Boolean]
        def mutable? = true

        # @param value [Object]
        # @return [Object] as it will be read: Hashes have String keys
        def cast(value) = value.nil? ? nil : JSON.parse(JSON.generate(value))

        # @param value [Object]
        # @return [String, nil]
        def serialize(value) = value.nil? ? nil : JSON.generate(value)

        # @param value [String, Object, nil] an Object if the driver has parsed it
        # @return [Object]
        def deserialize(value) = value.is_a?(String) ? JSON.parse(value) : value
      end

      # An array column of PostgreSQL, whose Array may be changed in place.
      class List < ActiveModel::Type::Value
        # @param model [Class]
        # @param name [Symbol] a column
        def initialize(model, name)
          super()
          @model = model
          @name = name
        end

        # @return [Symbol]
        def type = :array

        # @return [Boolean]
        def mutable? = true

        # @param value [Array, String, nil]
        # @return [Array, nil] values as the column stores them
        # @raise [Sequel::InvalidValue]
        def cast(value) = value.nil? ? nil : typed(value).to_a

        # @return [Sequel::Postgres::PGArray, nil]
        def serialize(value) = value.nil? ? nil : typed(value.dup)

        # @return [Array, nil]
        def deserialize(value) = value&.to_a

        private

        def typed(value) = @model.db.typecast_value(@model.db_schema.dig(@name, :type), value)
      end

      class << self
        # @param type [Symbol, #cast]
        # @return [#cast]
        # @raise [ArgumentError] if there is no such type
        def lookup(type, **options)
          return type if type.respond_to?(:cast)
          return Json.new if %i[json jsonb].include?(type)
          ActiveModel::Type.lookup({text: :string}.fetch(type, type), **options)
        end

        # @param model [Class]
        # @param name [Symbol]
        # @param column [Hash] Sequel's description
        # @return [#cast, nil] a type for columns that need one
        def of_column(model, name, column)
          return Json.new if column[:db_type].to_s.match?(/\Ajsonb?\z/i)
          List.new(model, name) if column[:type].to_s.end_with?("_array")
        end

        # @raise [Sequel::InvalidValue]
        def cast(type, name, value)
          type.cast(value)
        rescue ArgumentError, RangeError, EncodingError => error
          raise ::Sequel::InvalidValue, "#{name}: #{error.message}"
        end
      end
    end
  end
end
