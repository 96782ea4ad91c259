# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../../rakelib/mutations/c_changes"

class CChangesTest < PeltonTest
  def test_conditions
    assert_equal ["if (0) b();", "if (1) b();", "if (!(a(1))) b();"], changed("if (a(1)) b();", :condition)
    assert_equal ["while (0) b();"], changed("while (a) b();", :condition), "a loop only ends earlier"
  end

  def test_bounds
    assert_equal ["a = b <= c;"], changed("a = b < c;", :bound)
    assert_equal ["a = f(b) - 1;"], changed("a = f(b) + 1;", :bound)
    assert_empty changed("a = -1; b = c << 2; d->e = f; return -1;", :bound)
  end

  def test_logic
    assert_equal ["a = b || c;"], changed("a = b && c;", :logic)
  end

  def test_results
    assert_equal ["return 1;"], changed("return 0;", :result)
    assert_equal ["return 0;"], changed("return a + b;", :result)
    assert_equal ["return Qtrue;"], changed("return Qnil;", :result)
    assert_empty changed("return;", :result)
    assert_empty changed("return NULL;", :result), "0 is the same"
  end

  def test_calls
    assert_equal ["if (a) (void)0; else c();", "if (a) b(1); else (void)0;"], changed("if (a) b(1); else c();", :call)
    assert_empty changed("a = b(1); return (int)c(2);", :call), "their values are used"
  end

  def test_literals
    assert_equal ["a = 11;"], changed("a = 10;", :literal)
    assert_equal ['a = "";'], changed('a = "b";', :literal)
    assert_equal ["a = Qfalse;"], changed("a = Qtrue;", :literal)
    assert_empty changed("a = 0x10;", :literal)
  end

  def test_checks_and_messages_stay
    assert_empty changed('assert(a < 1); rb_raise(b, "c", 1); RB_GC_GUARD(d);', nil)
    assert_empty changed('a("it is a sentence"); /* 1 */', :literal)
  end

  def test_only_within_functions
    data = "#define A 1\nstatic const int b[2] = {1, 2};\nstruct c { int d[3]; };\nint e(int f[4]);\n"

    assert_empty Mutations::CChanges.of(data)
    refute_empty Mutations::CChanges.of("int a(void)\n{\n    return 0;\n}\n")
  end

  private

  # @return [Array<String>] the statements with each change of this kind, or of any
  def changed(statements, kind)
    text = "void f(void)\n{\n#{statements}\n}\n"
    Mutations::CChanges.of(text).select { |change| kind.nil? || change.kind == kind }.map do |change|
      text.dup.tap { |changed| changed[change.start, change.length] = change.text }.lines[2].chomp
    end
  end
end
