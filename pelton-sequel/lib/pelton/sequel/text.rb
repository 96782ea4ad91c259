# frozen_string_literal: true

module Pelton
  module Sequel
    # Converts Strings for a database, whose connections use UTF-8.
    # @private
    module Text
      SHORT = 1024 # bytes; longer texts are no keys

      # Converts a String to UTF-8. A binary String may come from a socket, so its bytes are taken for UTF-8.
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
      # @return [Boolean] whether a column can hold the text: except in SQLite it must be valid, and in PostgreSQL
      #   contain no NUL
      def self.storable?(string, database)
        case database.database_type
        when :sqlite then true
        when :postgres then utf8(string).then { |text| text.valid_encoding? && !text.include?("\0") }
        else utf8(string).valid_encoding?
        end
      rescue EncodingError
        false
      end

      # Literals for PostgreSQL. Sequel would ask a connection to quote each String, which takes one from the pool.
      module Postgres
        private

        def literal_string_append(sql, string)
          text = Text.utf8(string)
          raise ::Sequel::InvalidValue, "PostgreSQL has no text with a zero byte" if text.include?("\0")
          # safe, because standard_conforming_strings is on
          sql << "'" << (text.include?("'") ? text.gsub("'", "''") : text) << "'"
        end

        def literal_integer_outside_bigint_range(_number)
          raise ::Sequel::InvalidValue, "an integer of more than 64 bits is no part of a query: use a BigDecimal"
        end

        def literal_blob_append(sql, blob) = sql << "'\\x" << blob.unpack1("H*") << "'"
      end

      # Literals for MySQL, for the same reason; safe whether or not backslashes escape.
      module MySQL
        private

        def literal_string_append(sql, string)
          text = Text.utf8(string)
          unless text.valid_encoding?
            raise ::Sequel::InvalidValue,
              "a text that is not valid UTF-8 is no part of a query: use a column of bytes, and Sequel.blob"
          end
          text = text.gsub("\\", "\\\\\\\\").gsub("'", "''") if text.include?("'") || text.include?("\\")
          sql << "'" << text << "'"
        end
      end
    end
  end
end
