# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../../rakelib/mutations/ruby_changes"

class RubyChangesTest < PeltonTest
  def test_conditions
    assert_equal ["go if !(ready)", "go if true", "go if false"], changed("go if ready", :condition)
    assert_equal ["!(a) ? b : c", "true ? b : c", "false ? b : c"], changed("a ? b : c", :condition)
    assert_equal ["go unless !(a || b)", "go unless true", "go unless false"], changed("go unless a || b", :condition)
  end

  def test_loops_only_end_earlier
    assert_equal ["x while false"], changed("x while y", :condition)
    assert_equal ["x until true"], changed("x until y", :condition)
  end

  def test_bounds
    assert_equal ["a <= b"], changed("a < b", :bound)
    assert_equal ["a != b"], changed("a == b", :bound)
    assert_equal ["a - 1"], changed("a + 1", :bound)
    assert_equal ["(1...n)"], changed("(1..n)", :bound)
  end

  def test_no_bounds_of_what_only_looks_like_one
    assert_empty changed("a + b", :bound), "texts and lists are added, too"
    assert_empty changed("class A < B; end; a << b; -1; (1..)", :bound)
  end

  def test_logic
    assert_equal ["a || b"], changed("a && b", :logic)
    assert_equal ["find and raise"], changed("find or raise", :logic)
  end

  def test_results
    assert_equal ["def a; return nil if b; c(1); end"], changed("def a; return d if b; c(1); end", :result)
    assert_equal ["def a = nil"], changed("def a = b(1)", :result)
    assert_equal ["def a?; !(@b); end"], changed("def a?; @b; end", :result)
    assert_equal ["def a; b(1); nil; end"], changed("def a; b(1); @c; end", :result)
  end

  def test_calls_for_their_effect
    assert_equal ["def a; nil; c; end", "def a; b(1); nil if d; end"],
      changed("def a; b(1); c; end", :call) + changed("def a; b(1); e.go if d; end", :call).last(1)
    assert_empty changed("class A; private; attr_reader :b; end", :call)
    assert_empty changed("def a = \"\#{b(1)}\"", :call), "its value counts"
  end

  def test_literals
    assert_equal ["f(2, :b)"], changed("f(1, :b)", :literal)
    assert_equal ['f("")'], changed('f("a")', :literal)
    assert_equal ["f(true)"], changed("f(false)", :literal)
    assert_equal ["f(1.5)"], changed("f(0.5)", :literal)
  end

  def test_texts_for_people_stay
    assert_empty changed(%(require "a"; raise A, "b"; c("it is a sentence"); "d\#{e}f"; <<~G\n  h\nG\n), :literal)
  end

  def test_code_within_a_text
    assert_equal ["\"a\#{b(2)}c\""], changed("\"a\#{b(1)}c\"", :literal)
  end

  def test_comments_stay
    assert_empty changed("# a < b if true\n", nil)
  end

  def test_positions_are_in_bytes
    assert_equal ["é = 2"], changed("é = 1", :literal)
  end

  def test_whether_a_text_parses
    assert Mutations::RubyChanges.parses?("a if b")
    refute Mutations::RubyChanges.parses?("a if")
  end

  private

  # @return [Array<String>] the texts with each change of this kind, or of any
  def changed(text, kind)
    Mutations::RubyChanges.of(text).select { |change| kind.nil? || change.kind == kind }.map do |change|
      text.b.tap { |bytes| bytes[change.start, change.length] = change.text.b }.force_encoding("UTF-8")
    end
  end
end
