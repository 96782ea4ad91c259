# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../../rakelib/mutations/c_tokens"

class CTokensTest < PeltonTest
  def test_kinds
    tokens = kinds("a->b <<= 0x1fUL + 1.5e-3;")

    assert_equal %w[a -> b <<= 0x1fUL + 1.5e-3 ;], tokens.map(&:last)
    assert_equal %i[name operator name operator number operator number operator], tokens.map(&:first)
  end

  def test_texts_are_one_token
    assert_equal [[:string, '"a \\" /* b"'], [:character, "'\\''"]], kinds(%q("a \\" /* b" '\\''))
  end

  def test_comments_are_none
    assert_equal %w[a b], kinds("a /* x \" y */ b // z\n").map(&:last)
  end

  def test_lines_of_the_preprocessor_are_none
    assert_equal %w[a b], kinds("a\n  #define X \\\n  y(1)\nb\n#endif").map(&:last)
    assert_equal %w[a # b], kinds("a # b").map(&:last), "only at a line's beginning"
  end

  def test_where_a_token_is
    token = Mutations::CTokens.of("/* é */ ab").first

    assert_equal 9, token.start
    assert_equal 11, token.end
  end

  private

  def kinds(text) = Mutations::CTokens.of(text).map { |token| [token.kind, token.text] }
end
