# frozen_string_literal: true

require_relative "c_tokens"
require_relative "change"

module Mutations
  # The changes that can be made to a C file, within the bodies of its functions.
  class CChanges
    COMPARISONS = {"<" => "<=", "<=" => "<", ">" => ">=", ">=" => ">", "==" => "!=", "!=" => "=="}.freeze
    SUMS = {"+" => "-", "-" => "+"}.freeze
    LOGIC = {"&&" => "||", "||" => "&&"}.freeze
    RESULTS = {"0" => "1", "Qnil" => "Qtrue", "Qtrue" => "Qfalse", "Qfalse" => "Qtrue"}.freeze
    # Checks for developers, messages, and what keeps an object from a garbage collection that a test cannot time.
    LEFT_ALONE = %w[
      assert static_assert RB_GC_GUARD rb_raise rb_bug rb_warn rb_exc_raise
      rb_global_variable rb_gc_register_address sizeof
    ].freeze
    PROSE = /[a-z,] [a-z]/n
    STARTS = [";", "{", "}", ")", "else"].freeze # what is before a statement
    VALUES = %i[name number string character].freeze # what ends an operand, as ")" and "]" do

    # @return [Array<Change>]
    def self.of(text) = new(text).changes

    def initialize(text)
      @text = text.b
      @tokens = CTokens.of(text)
      @pairs = pairs
    end

    def changes
      @changes = []
      bodies.each { |body| walk(body) }
      @changes
    end

    private

    # The index of each opening bracket's closing one.
    def pairs
      open = []
      @tokens.each_with_index.with_object({}) do |(token, index), found|
        next unless token.kind == :operator
        case token.text
        when "(", "{", "[" then open << index
        when ")", "}", "]" then found[open.pop] = index
        end
      end
    end

    # The ranges of tokens that are bodies of functions. Initializers are data, and structs types.
    def bodies
      found = []
      index = 0
      while index < @tokens.size
        ending = @pairs[index]
        found << (index + 1...ending) if ending && text(index) == "{" && index > 0 && text(index - 1) == ")"
        index = (ending && text(index) == "{") ? ending + 1 : index + 1
      end
      found
    end

    def walk(body)
      index = body.begin
      while index < body.end
        if LEFT_ALONE.include?(text(index)) && @pairs[index + 1]
          index = @pairs[index + 1]
        else
          visit(index)
        end
        index += 1
      end
    end

    def visit(index)
      case @tokens[index].kind
      when :name then name(index)
      when :number then number(index)
      when :string then string(index)
      when :operator then operator(index)
      end
    end

    def name(index)
      case text(index)
      when "if" then condition(index + 1, %w[0 1])
      when "while" then condition(index + 1, %w[0])
      when "return" then result(index)
      when "Qtrue" then replace(:literal, index, index, "Qfalse")
      when "Qfalse" then replace(:literal, index, index, "Qtrue")
      else call(index)
      end
    end

    def condition(opening, constants)
      ending = @pairs[opening] or return
      constants.each { |constant| replace(:condition, opening, ending, "(#{constant})") }
      replace(:condition, opening, ending, "(!#{source(opening, ending)})") if constants.size > 1
    end

    def result(index)
      ending = (index...@tokens.size).find { |at| text(at) == ";" }
      return if ending == index + 1
      value = source(index + 1, ending - 1)
      return if value == "NULL"
      replace(:result, index + 1, ending - 1, RESULTS.fetch(value, "0"))
    end

    # Of a whole statement.
    def call(index)
      ending = @pairs[index + 1]
      return unless ending && text(index + 1) == "(" && text(ending + 1) == ";" && STARTS.include?(text(index - 1))
      return if text(index - 1) == ")" && !branch?(index - 1) # a cast
      replace(:call, index, ending, "(void)0")
    end

    # Whether a closing bracket is that of an `if`, `while` or `for`.
    def branch?(closing) = %w[if while for].include?(text(@pairs.key(closing).to_i - 1))

    def number(index)
      number = text(index)
      return unless number.match?(/\A(0|[1-9]\d*)\z/n) && text(index - 1) != "return"
      replace(:literal, index, index, (number.to_i + 1).to_s)
    end

    def string(index)
      replace(:literal, index, index, (text(index) == '""') ? '"~"' : '""') unless text(index).match?(PROSE)
    end

    def operator(index)
      text = text(index)
      replace(:logic, index, index, LOGIC[text]) if LOGIC.key?(text)
      replace(:bound, index, index, COMPARISONS[text]) if COMPARISONS.key?(text)
      sum = SUMS[text] if @tokens[index + 1].kind == :number && binary?(index)
      replace(:bound, index, index, sum) if sum
    end

    def binary?(index)
      before = @tokens[index - 1]
      VALUES.include?(before.kind) && before.text != "return" || [")", "]"].include?(before.text)
    end

    def text(index) = @tokens[index]&.text

    def source(first, last) = @text.byteslice(@tokens[first].start...@tokens[last].end)

    def replace(kind, first, last, text)
      start = @tokens[first].start
      @changes << Change.new(kind, start, @tokens[last].end - start, text)
    end
  end
end
