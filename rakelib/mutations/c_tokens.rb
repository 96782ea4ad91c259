# frozen_string_literal: true

require "strscan"

module Mutations
  # The tokens of a C file, without spaces, comments and lines of the preprocessor.
  module CTokens
    # @!attribute kind [Symbol] :name, :number, :string, :character or :operator
    # @!attribute start [Integer] its first byte
    Token = Struct.new(:kind, :text, :start) do
      def end = start + text.bytesize
    end

    SKIPPED = %r{\s+|//[^\n]*|/\*.*?\*/}mn
    DIRECTIVE = /#(?:[^\n\\]|\\.)*/mn # a backslash takes the line's end along
    KINDS = {
      name: /[A-Za-z_]\w*/n,
      number: /\.?\d(?:[eEpP][+-]|[\w.])*/n,
      string: /"(?:[^"\\]|\\.)*"/mn,
      character: /'(?:[^'\\]|\\.)*'/mn,
      operator: /<<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*\/%&|^]=|./n
    }.freeze

    module_function

    # @return [Array<Token>]
    def of(text)
      scanner = StringScanner.new(text.b)
      tokens = []
      line_began = true
      until scanner.eos?
        if (skipped = scanner.scan(SKIPPED))
          line_began ||= skipped.include?("\n")
        elsif line_began && scanner.scan(DIRECTIVE)
          next
        else
          line_began = false
          start = scanner.pos
          kind, = KINDS.find { |_, pattern| scanner.scan(pattern) }
          tokens << Token.new(kind, scanner.matched, start)
        end
      end
      tokens
    end
  end
end
