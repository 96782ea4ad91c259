# frozen_string_literal: true

require "date"
require "time"

module Pelton
  module Web
    class Params
      # Converts parameters to an action's types.
      module Types
        # Types without required options.
        NAMES = %i[string integer float boolean date time file].freeze
        OPTIONS = {string: %i[in max format], integer: %i[in], float: %i[in], boolean: [], date: %i[in], time: %i[in],
                   file: %i[types max_bytes], enum: %i[of], array: nil, hash: []}.freeze
        BOOLEANS = {"true" => true, "1" => true, "on" => true, "yes" => true, "false" => false, "0" => false,
                    "off" => false, "no" => false}.freeze
        INTEGERS = (-(1 << 63)..(1 << 63) - 1) # the range of database columns
        private_constant :BOOLEANS, :INTEGERS

        class << self
          # @param value [Object] not nil
          # @param type [Symbol]
          # @param options [Hash] see {OPTIONS}
          # @yieldparam complaint [String] the error message; the block raises
          # @raise [ArgumentError] if there is no such type or option
          def convert(value, type, options, &complain)
            check(type, options)
            result = send(type, value, options, &complain)
            yield("must be in #{options[:in]}") if options[:in] && type != :array && !options[:in].cover?(result)
            result
          end

          # @raise [ArgumentError] if there is no such type or option
          def check(type, options)
            known =
              OPTIONS.fetch(type) do
                raise ArgumentError,
                  "there is no type #{type.inspect} of parameters; there are #{OPTIONS.keys.join(", ")}"
              end or
              return
            unknown = options.keys - known
            raise ArgumentError, "the type #{type} has no option #{unknown.join(", ")}" if unknown.any?
          end

          private

          def string(value, options)
            yield "must be text" unless value.is_a?(String) || value.is_a?(Numeric)
            text = value.to_s
            yield "is too long: #{options[:max]} characters at most" if options[:max] && text.size > options[:max]
            yield "has not the right form" if options[:format] && !text.match?(/\A(?:#{options[:format]})\z/)
            text
          end

          def integer(value, options)
            number = value.is_a?(Integer) ? value : (if value.is_a?(String) && value.match?(/\A[+-]?\d{1,20}\z/)
                                                       Integer(value,
                                                         10)
                                                     end)
            yield "must be a whole number" unless number
            yield "is too large" unless INTEGERS.cover?(number)
            number
          end

          def float(value, _options)
            number = value.is_a?(Numeric) ? value.to_f : (Float(value) if value.is_a?(String) &&
              value.match?(/\A[+-]?\d{1,30}(?:\.\d{1,30})?(?:e[+-]?\d{1,3})?\z/i))
            yield "must be a number" unless number&.finite?
            number
          end

          def boolean(value, _options)
            value = BOOLEANS[value.downcase] if value.is_a?(String)
            yield "must be true or false" unless [true, false].include?(value)
            value
          end

          def date(value, _options)
            yield "must be a date such as 2026-01-31" unless value.is_a?(String) && value.match?(/\A\d{4}-\d\d-\d\d\z/)
            Date.strptime(value, "%Y-%m-%d")
          rescue Date::Error
            yield "must be a date such as 2026-01-31"
          end

          def time(value, _options)
            # Time would take February 30th for a day in March.
            unless value.is_a?(String) && value.bytesize < 50 && value.match?(/(?:Z|[+-]\d\d:?\d\d)\z/i) &&
                Date.iso8601(value[0, 10])
              yield "must be a time such as 2026-01-31T12:00:00Z"
            end
            Time.iso8601(value)
          rescue ArgumentError
            yield "must be a time such as 2026-01-31T12:00:00Z"
          end

          def file(value, options)
            yield "must be a file" unless value.is_a?(Upload)
            if options[:max_bytes] && value.size > options[:max_bytes]
              yield "is too large: #{options[:max_bytes]} bytes at most"
            end
            if options[:types] && !options[:types].include?(value.type)
              yield "must be #{options[:types].join(" or ")}, and is #{value.type}"
            end
            value
          end

          def enum(value, options)
            options[:of].find { |one| one.to_s == value.to_s } || yield("must be one of #{options[:of].join(", ")}")
          end

          def array(value, options)
            yield "must be a list" unless value.is_a?(Array)
            # Forms send an empty element with each list, which counts as missing
            value = value.reject { |one| one.nil? || one == "" }
            yield "is too long: #{options[:max]} elements at most" if options[:max] && value.size > options[:max]
            value.map do |one|
              convert(one, options[:of] || :string, options.except(:of, :max)) do |complaint|
                yield("contains an element that #{complaint}")
              end
            end
          end

          def hash(value, _options) = value.is_a?(Hash) ? value : yield("must be a group of fields")
        end
      end
    end
  end
end
