# frozen_string_literal: true

require_relative "../../test_helper"
require "json"
require "tmpdir"

class MutationRunTestsTest < PeltonTest
  PROGRAM = File.expand_path("../../../rakelib/mutations/run_tests.rb", __dir__)
  FIRST = <<~RUBY
    require "minitest/autorun"
    class FirstTest < Minitest::Test
      def test_a = flunk
    end
  RUBY
  SECOND = <<~RUBY
    class SecondTest < Minitest::Test
      def test_b = puts("the second ran")
    end
  RUBY

  def test_after_a_failure_no_other_begins
    output, report = run_tests

    refute_match(/the second ran/, output)
    assert_equal [@first], report["failed"]
  end

  def test_all_run_without_a_fault
    output, report = run_tests("--all")

    assert_match(/the second ran/, output)
    assert_equal [@first], report["failed"]
    assert_equal [@first, @second], report["seconds"].keys
  end

  private

  # @return [Array(String, Hash)] what the program printed, and its report
  def run_tests(*options)
    Dir.mktmpdir do |folder|
      @first, @second = %w[first_test.rb second_test.rb].map { |name| File.join(folder, name) }
      File.write(@first, FIRST)
      File.write(@second, SECOND)
      report = File.join(folder, "report")
      output, _, status = run_ruby("load ARGV.shift", PROGRAM, report, *options, @first, @second, gems: true)
      refute status.success?
      [output, JSON.parse(File.read(report))]
    end
  end
end
