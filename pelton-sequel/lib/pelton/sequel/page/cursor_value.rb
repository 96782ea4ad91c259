# frozen_string_literal: true

require "bigdecimal"
require "date"
require "time"

module Pelton
  module Sequel
    class Page
      # A column's value in a cursor, written so that the database finds exactly the same value again.
      # @private
      class CursorValue
        UUID = /\A\h{8}-?\h{4}-?\h{4}-?\h{4}-?\h{12}\z/
        private_constant :UUID

        # @param database [Symbol] its type
        # @param name [Symbol] the column's
        # @param schema [Hash] of the column
        # @raise [ArgumentError] if values of the type cannot be found again
        def initialize(database, name, schema)
          @type = schema[:type]
          @stored = schema[:db_type].to_s.downcase
          @enum = schema[:enum_values]
          @database = database
          refused = (@database == :mysql) ? /\A(?:float|enum|set|json)/ : /\A(?:json|xml|point)|\[\]\z/
          if @stored.match?(refused)
            raise ArgumentError,
              "keyset pages cannot be ordered by #{name}, whose type is #{@stored}: use limit and offset"
          end
        end

        # Whether to use the database's own text. SQLite stores times as text in several forms, and compares them as
        # text.
        def raw? = @database == :sqlite && %i[date datetime time].include?(@type)

        # @param value [Object] as the database has it
        # @return [Object] as JSON has it
        def dump(value)
          case value
          when ::Sequel::SQLTime then value.strftime("%H:%M:%S.%6N")
          when Time, DateTime then value.to_time.iso8601(9)
          when Date then value.iso8601
          when BigDecimal then value.to_s("F")
          when Float then value.finite? ? value : value.to_s
          when ::Sequel::SQL::Blob then [value].pack("m0")
          when Integer, true, false, nil then value
          when String then value.encode(Encoding::UTF_8)
          when Symbol then value.to_s
          else raise ArgumentError, "keyset pages cannot be ordered by #{value.class}"
          end
        end

        # @return [Object] the value that {#dump} got
        # @raise [InvalidCursor] if it is no value of the column
        def load(value)
          return value if value.nil?
          right = case @type
          when :integer then value.is_a?(Integer) && value.bit_length < 64
          when :float then value.is_a?(Float) || value.is_a?(Integer) || %w[NaN Infinity -Infinity].include?(value)
          when :boolean then [true, false, 0, 1].include?(value)
          when :decimal then value.is_a?(String) && value.match?(/\A-?\d{1,1000}(?:\.\d{1,1000})?\z/)
          else value.is_a?(Integer) || value.is_a?(Float) || (value.is_a?(String) && text?(value))
          end
          right ? converted(value) : raise(InvalidCursor)
        end

        # @return [Object] for SQL
        def operand(value)
          # PostgreSQL's type real does not equal the same digits of another type.
          (@stored == "real" && @database == :postgres) ? ::Sequel.cast(value, :real) : value
        end

        private

        def text?(value)
          return false if value.include?("\0") || !value.valid_encoding?
          return value.match?(UUID) if @stored == "uuid" && @database == :postgres
          @enum.nil? || @enum.include?(value)
        end

        def converted(value)
          return value if raw?
          case @type
          when :datetime then Time.iso8601(value)
          when :date then Date.iso8601(value)
          when :time then ::Sequel::SQLTime.parse(value)
          when :decimal then BigDecimal(value)
          when :blob then ::Sequel::SQL::Blob.new(value.unpack1("m0"))
          when :float then value.is_a?(String) ? {"NaN" => Float::NAN, "Infinity" => Float::INFINITY,
                                                  "-Infinity" => -Float::INFINITY}.fetch(value) : value
          else value
          end
        rescue ArgumentError, NoMethodError, TypeError
          raise InvalidCursor
        end
      end
    end
  end
end
