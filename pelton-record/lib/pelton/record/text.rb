# frozen_string_literal: true

module Pelton
  module Record
    # Strings on their way to a database. All connections speak UTF-8.
    # @private
    module Text
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

      # Literals of PostgreSQL. Sequel's own ask a connection to quote each string, which would take one from the pool.
      module Postgres
        private

        def literal_string_append(sql, string)
          text = Text.utf8(string)
          raise Sequel::InvalidValue, "PostgreSQL has no text with a zero byte: #{text.inspect[0, 60]}" if text.include?("\0")
          sql << "'" << (text.include?("'") ? text.gsub("'", "''") : text) << "'" # standard_conforming_strings is on
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
          sql << "'" << (text.match?(/['\\]/) ? text.gsub("\\", "\\\\\\\\").gsub("'", "''") : text) << "'"
        end
      end
    end
  end
end
