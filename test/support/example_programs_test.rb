# frozen_string_literal: true

require_relative "../test_helper"
require_relative "example_programs"

# A guide whose examples do not do what it says fails.
class ExampleProgramsTest < PeltonTest
  include ExamplePrograms

  def test_an_example_that_prints_what_is_shown
    assert_examples_run(document("require \"pelton\"\nputs Pelton.running?\nwarn 2", "false\n2"), "a.md")
  end

  def test_an_example_that_requires_nothing_runs_inside_a_reactor
    assert_examples_run(document("sleep 0.001\nputs Pelton.running?", "true"), "a.md")
  end

  def test_an_example_in_a_list
    text = document("puts <<~A\n  1\nA", "1").gsub(/^(?=.)/, "  ")

    assert_examples_run("- one:\n\n#{text}", "a.md")
    assert_wrong(text.sub("puts", "print 0,"))
  end

  def test_three_dots_stand_for_any_text
    assert_examples_run(document("puts 12, 34, 56", "1...\n...\n56"), "a.md")
    assert_wrong(document("puts 12, 34, 56", "1...\n57"))
  end

  def test_the_watchdog_may_report_what_the_example_has_not_caused
    report = ->(file) do
      "puts 'pelton: the loop has been blocked for 0.1 s in', '    #{file}:1:in x', '    b.rb:2:in y', 'pelton: " \
      "the loop goes on after 0.2 s', 1"
    end

    assert_examples_run(document(report.call("logger.rb"), "1"), "a.md")
    assert_wrong(document(report.call("app.rb"), "1"))
  end

  def test_values_are_checked
    assert_examples_run(document("1 + 1 # => 2"), "a.md")
    assert_wrong(document("1 + 1 # => 3"), "2 instead of 3")
  end

  def test_an_example_that_prints_something_else
    assert_wrong("\n#{document("puts 1", "2")}", "a.md:2 printed\n1\ninstead of\n2\n")
    assert_wrong(document("puts 1"), "printed\n1\n")
    assert_wrong(document("nil", "1"))
  end

  def test_an_example_that_fails
    assert_wrong(document("raise \"oh\"", "..."), "oh (RuntimeError)")
    assert_wrong(document("Pelton.spawn { raise \"oh\" }"), "unhandled error")
  end

  def test_files_and_replacements
    assert_examples_run(document("puts File.read(\"one\")", "two"), "a.md", replace: {"one" => "ONE"},
      files: {"ONE" => "two"})
  end

  private

  def document(code, output = nil)
    "```ruby\n#{code}\n```\n#{"\n```text\n#{output}\n```\n" if output}"
  end

  def assert_wrong(text, message = "")
    error = assert_raises(Minitest::Assertion) { assert_examples_run(text, "a.md") }

    assert_includes error.message.gsub("\\n", "\n").gsub("\\\"", "\""), message
  end
end
