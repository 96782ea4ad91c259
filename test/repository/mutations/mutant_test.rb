# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../../rakelib/mutations/change"
require_relative "../../../rakelib/mutations/mutant"

class MutantTest < PeltonTest
  Source = Struct.new(:path, :text)

  def test_its_line_before_and_after
    mutant = mutant("a\n  b < c # é\n", 6, 1, "<=")

    assert_equal "foo.rb:2: b < c # é -> b <= c # é", mutant.to_s
    assert_equal "a\n  b <= c # é\n", mutant.text
  end

  def test_it_has_as_many_lines_as_before
    mutant = mutant("a\nb(1,\n  2)\nc\n", 2, 9, "nil")

    assert_equal "a\nnil\n\nc\n", mutant.text
    assert_equal "b(1, 2)", mutant.before
    assert_equal "nil", mutant.after
  end

  def test_its_key_is_that_of_the_fault_in_this_text
    key = mutant("a < b", 2, 1, "<=").key

    assert_equal key, mutant("a < b", 2, 1, "<=").key
    refute_equal key, mutant("a < b", 2, 1, ">").key
    refute_equal key, mutant("a < b ", 2, 1, "<=").key
  end

  private

  def mutant(text, start, length, change)
    Mutations::Mutant.new(Source.new("foo.rb", text), Mutations::Change.new(:bound, start, length, change))
  end
end
