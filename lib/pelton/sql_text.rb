# frozen_string_literal: true

module Pelton
  # SQL, and what a database's server says about it, for messages, logs and spans: without values, which may be secret.
  # @private
  module SQLText
    SHOWN = 2000 # bytes of a query that are looked at
    NUMBER = /(?<![\w.$"`])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?\b/
    NAME = /"[^"]*+(?:""[^"]*+)*+"|`[^`]*+(?:``[^`]*+)*+`/
    COMMENT = %r{--[^\n]*+|/\*.*?(?:\*/|\z)}m
    STANDARD =
      /(?<name>#{NAME})|(?<comment>#{COMMENT})|
        (?<!\w)[eE]'(?:[^'\\]|''|\\.)*+(?:'|\z)|
        (?:(?<!\w)[xXbBnN])?'[^']*+(?:''[^']*+)*+(?:'|\z)|
        \$(?<tag>\w*)\$.*?(?:\$\k<tag>\$|\z)|["`].*/mx
    MYSQL =
      /(?<name>`[^`]*+(?:``[^`]*+)*+`)|(?<comment>#{COMMENT}|\#[^\n]*+)|
        (?:(?<!\w)[xXbBnN])?'(?:[^'\\]|''|\\.)*+(?:'|\z)|
        "(?:[^"\\]|""|\\.)*+(?:"|\z)|`.*/mx
    # A text in a language that is not known: the first quotation mark may begin anything.
    UNKNOWN = /['"`$].*/m
    DIALECTS = {"mysql" => MYSQL, "mariadb" => MYSQL, "postgres" => STANDARD, "postgresql" => STANDARD,
                "sqlite" => STANDARD}.freeze
    private_constant :SHOWN, :NUMBER, :NAME, :COMMENT, :STANDARD, :MYSQL, :UNKNOWN, :DIALECTS

    class << self
      # @param sql [String]
      # @param type [Symbol, String] the database's: mysql, mariadb, postgres, postgresql or sqlite; of others all that
      #   follows a quotation mark is left out
      # @param limit [Integer] bytes
      # @return [String] its beginning without comments, and with question marks in the place of values
      def without_values(sql, type, limit: SHOWN)
        text = sql.byteslice(0, limit).force_encoding(Encoding::UTF_8).scrub("?")
        text = text.gsub(DIALECTS.fetch(type.to_s, UNKNOWN)) { |part| kept($~, part) }
        text.gsub(NUMBER, "?").strip
      end

      # What a server says about a query. PostgreSQL names values in the lines that follow the first, and all of them
      # quote values as they quote names.
      #
      # @param message [String]
      # @return [String] the first line, with a question mark from its first quotation mark to its last one
      def message_without_values(message)
        message.dup.force_encoding(Encoding::UTF_8).scrub("?")[/\A[^\n]*/].sub(/['"`].*['"`]|['"`].*/, "?")
      end

      private

      def kept(match, part)
        return "?" if match.names.empty?
        return part if match[:name]
        match[:comment] ? "" : "?"
      end
    end
  end
end
