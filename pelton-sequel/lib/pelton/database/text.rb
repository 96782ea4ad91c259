# frozen_string_literal: true

module Pelton
  module Database
    # Strings on their way to a database. All connections speak UTF-8.
    # @private
    module Text
      SHORT = 1024 # bytes: longer texts are no keys

      # The string in UTF-8. A binary string may have come from a socket: its bytes are taken for UTF-8.
      #
      # @return [String]
      def self.utf8(string)
        case string.encoding
        when Encoding::UTF_8, Encoding::US_ASCII then string
        when Encoding::BINARY then string.dup.force_encoding(Encoding::UTF_8)
        else string.encode(Encoding::UTF_8)
        end
      end

      # @param database [Sequel::Database]
      # @return [Boolean] whether a column can have that text: elsewhere than in SQLite it is valid, and in PostgreSQL without zero bytes
      def self.storable?(string, database)
        case database.database_type
        when :sqlite then true
        when :postgres then utf8(string).then { |text| text.valid_encoding? && !text.include?("\0") }
        else utf8(string).valid_encoding?
        end
      rescue EncodingError
        false
      end

      # Literals of PostgreSQL. Sequel's own ask a connection to quote each string, which would take one from the pool.
      module Postgres
        private

        def literal_string_append(sql, string)
          text = Text.utf8(string)
          raise Sequel::InvalidValue, "PostgreSQL has no text with a zero byte" if text.include?("\0")
          sql << "'" << (text.include?("'") ? text.gsub("'", "''") : text) << "'" # standard_conforming_strings is on
        end

        def literal_integer_outside_bigint_range(_number)
          raise Sequel::InvalidValue, "an integer of more than 64 bits is no part of a query: use a BigDecimal"
        end

        def literal_blob_append(sql, blob)
          sql << "'\\x" << blob.unpack1("H*") << "'"
        end
      end

      # Literals of MySQL, for the same reason. It is safe in both modes of the server, with and without escapes by backslashes.
      module MySQL
        private

        def literal_string_append(sql, string)
          text = Text.utf8(string)
          raise Sequel::InvalidValue, "a text that is not valid UTF-8 is no part of a query: use a column of bytes, and Sequel.blob" unless text.valid_encoding?
          sql << "'" << ((text.include?("'") || text.include?("\\")) ? text.gsub("\\", "\\\\\\\\").gsub("'", "''") : text) << "'"
        end
      end
    end
  end
end
