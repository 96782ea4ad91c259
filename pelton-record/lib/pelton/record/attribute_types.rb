# frozen_string_literal: true

require "json"

module Pelton
  module Record
    # The types that `attribute` takes: ActiveModel's, and JSON. A type has cast, serialize and deserialize.
    module AttributeTypes
      # Any value of JSON, which may be changed in place, in a column of text. It is read by JSON.parse, which makes no objects of other classes.
      class Json < ActiveModel::Type::Value
        # @return [Symbol]
        def type = :json

        # @return [Boolean]
        def mutable? = true

        # @param value [Object]
        # @return [String, nil]
        def serialize(value) = value.nil? ? nil : JSON.generate(value)

        # @param value [String, Object, nil] an Object where the driver has parsed it already
        # @return [Object]
        def deserialize(value) = value.is_a?(String) ? JSON.parse(value) : value

        private

        def cast_value(value) = value
      end

      class << self
        # @param type [Symbol, #cast]
        # @return [#cast]
        # @raise [ArgumentError] when there is no such type
        def lookup(type, **options)
          return type if type.respond_to?(:cast)
          return Json.new if %i[json jsonb].include?(type)
          ActiveModel::Type.lookup({text: :string}.fetch(type, type), **options)
        end

        # @raise [Sequel::InvalidValue]
        def cast(type, name, value)
          type.cast(value)
        rescue ArgumentError, RangeError => error
          raise Sequel::InvalidValue, "#{name}: #{error.message}"
        end
      end
    end
  end
end
