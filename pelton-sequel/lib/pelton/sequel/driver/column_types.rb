# frozen_string_literal: true

require "ipaddr"

module Pelton
  module Sequel
    # Casts for column types that Sequel leaves alone, where a number would be compared with text, or text that is no
    # UUID would fail the query. Raises Sequel::InvalidValue for a value that cannot be cast.
    # @private
    module ColumnTypes
      UUID = /\A(\{)?((?:\h{4}-?){8})(?(1)\})\z/ # as PostgreSQL reads it
      private_constant :UUID

      module Postgres
        include ColumnTypes

        private

        def schema_column_type(type)
          case type
          when "uuid" then :uuid
          when "inet", "cidr" then :inet
          else super
          end
        end
      end

      # MySQL and MariaDB.
      module MySQL
        include ColumnTypes

        private

        def schema_column_type(type)
          case type
          when /\A(?:tiny|long)text/i then :string
          when /\Auuid\z/i then :uuid
          when /\Ainet[46]\z/i then :inet
          when /\Ayear/i then :integer
          else super
          end
        end
      end

      private

      def typecast_value_uuid(value)
        text = UUID.match(value.to_s) || raise(::Sequel::InvalidValue, "no UUID")
        text[2].delete("-").downcase.unpack("a8a4a4a4a12").join("-")
      end

      def typecast_value_inet(value)
        return "#{value}/#{value.prefix}" if value.is_a?(IPAddr)
        value.to_s.tap { |text| IPAddr.new(text) }
      end

      def typecast_value_enum(value) = value.to_s

      def typecast_value_set(value) = value.to_s
    end
  end
end
