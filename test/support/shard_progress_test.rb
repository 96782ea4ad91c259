# frozen_string_literal: true

require_relative "../test_helper"
require "open3"
require "tmpdir"

# What the log of test/support/shards.rb says of the tests that it runs.
class ShardProgressTest < PeltonTest
  HELPER = File.join(ROOT, "test/test_helper")

  # @return [Array(String, Process::Status)]
  def run_shards(code)
    Dir.mktmpdir do |folder|
      File.write("#{folder}/inner_test.rb", "require #{HELPER.dump}\nclass InnerTest < PeltonTest\n#{code}\nend\n")
      Open3.capture2e(child_environment.merge("RUBYLIB" => Children::LIB), RbConfig.ruby,
        File.join(ROOT, "test/support/shards.rb"),
        "#{folder}/inner_test.rb", "--", "--seed", "1")
    end
  end

  def test_a_crash_has_the_name_of_the_test_and_the_frames
    output, status = run_shards(<<~RUBY)
      def test_before = assert(true)
      def test_crash = Process.kill(:SEGV, Process.pid) && sleep
    RUBY

    refute_predicate status, :success?
    assert_match(/^a process of the tests ended by signal \d+ in InnerTest#test_crash$/, output)
    assert_match(/^-- C level backtrace information/, output)
  end

  def test_the_classes_that_took_longest_are_named
    output, status = run_shards("def test_it = assert(true)")

    assert_predicate status, :success?, output
    assert_match(/^1 runs, 1 assertions, 0 failures/, output)
    assert_match(/^slow: \d+\.\d s \(\d+\.\d s of the processor\) in InnerTest, \d+\.\d s of it in test_it$/, output)
  end
end
