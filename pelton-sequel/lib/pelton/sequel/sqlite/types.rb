# frozen_string_literal: true

require "bigdecimal"
require_relative "../text"

module Pelton
  module Sequel
    module SQLite
      # Converts SQLite's values to Ruby's by their column's declared type. SQLite itself knows integers, floats, text
      # and blobs.
      # @private
      module Types
        NO = [0, "0", "f", "false", "n", "no"].freeze

        # Columns without a type count as blobs, too
        BLOB = ->(value) {
          (value.is_a?(String) &&
                  value.encoding == Encoding::BINARY) ? ::Sequel::SQL::Blob.new(value) : value
        }
        BOOLEAN = ->(value) { !NO.include?(value.is_a?(String) ? value.downcase : value) }
        FLOAT = ->(value) { value.to_f }

        DATE = lambda do |value|
          case value
          when String then ::Sequel.string_to_date(value)
          when Numeric then Date.jd(value.to_i)
          end
        end

        DECIMAL = lambda do |value|
          BigDecimal(value.to_s)
        rescue ArgumentError
          value
        end

        TIME = lambda do |value|
          next ::Sequel.string_to_time(value) if value.is_a?(String)
          seconds, fraction = value.divmod(1)
          ::Sequel::SQLTime.create(seconds / 3600, seconds % 3600 / 60, seconds % 60, (fraction * 1_000_000).round)
        end

        # By declared type in lower case. Columns of any other type keep SQLite's value.
        ALL = {
          DATE => %w[date], TIME => %w[time], BOOLEAN => %w[bit bool boolean], BLOB => %w[blob],
          DECIMAL => %w[numeric decimal money], FLOAT => ["float", "double", "real", "dec", "fixed", "double precision"]
        }.flat_map { |converter, names| names.map { |name| [name, converter] } }.to_h.freeze

        # Converts a row's values in place.
        #
        # @param row [Hash{Symbol => Object}]
        # @param converters [Hash{Symbol => #call}]
        # @return [Hash{Symbol => Object}]
        def self.convert(row, converters)
          unless converters.empty?
            converters.each { |name, converter| (value = row[name]).nil? || row[name] = converter.call(value) }
          end
          row
        end

        # Parses a time as Sequel writes it, many times faster than Time.parse.
        #
        # @param zone [Symbol, nil] :utc or :local
        # @return [Time, nil] nil for other forms, and without a zone
        def self.time(text, zone)
          return unless zone && text.match?(WRITTEN)
          Time.public_send(zone, text[0, 4].to_i, text[5, 2].to_i, text[8, 2].to_i, text[11, 2].to_i, text[14, 2].to_i,
            text[17, 2].to_i, text[20, 6].to_i)
        end

        WRITTEN = /\A\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}\z/
        private_constant :WRITTEN

        # The type without its size: "varchar(20)" is "varchar".
        def self.base(declared) = declared[/\A[^(]*/].strip.downcase

        # SQLite's form of a bound value. A String is text whatever its encoding: it may come from a socket, and a blob
        # never equals text.
        def self.bind(value, database)
          case value
          when ::Sequel::SQL::Blob then ::Extralite::Blob.new(value)
          when String then Text.utf8(value)
          when Symbol then value.name
          when Date, Time then database.literal(value)[1...-1]
          when BigDecimal then value.to_s("F")
          when true then database.integer_booleans ? 1 : "t"
          when false then database.integer_booleans ? 0 : "f"
          else value
          end
        end
      end
    end
  end
end
