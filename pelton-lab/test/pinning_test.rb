# frozen_string_literal: true

require "test_helper"
require "pelton/lab/pinning"

class LabPinningTest < PeltonTest
  Pinning = Pelton::Lab::Pinning

  def test_reads_the_kernels_lists
    assert_equal [0, 1, 2, 5], Pinning.parse("0-2,5")
    assert_equal [3], Pinning.parse("3")
  end

  def test_same_is_one_core_and_apart_are_two
    server, contender = Pinning.cores(:same)

    assert_equal server, contender
    assert_includes Pinning.allowed, server
    skip "one core only" if Pinning.unavailable(:apart)
    refute_equal(*Pinning.cores(:apart))
  end

  def test_the_words_before_a_command
    assert_equal %w[taskset -c 1], Pinning.words(1)
    assert_equal [], Pinning.words(nil)
  end

  def test_a_process_moves_with_all_its_threads
    skip "no taskset" if Pinning.unavailable(:same)
    core = Pinning.allowed.last
    allowed = ruby_output(<<~'RUBY', core)
      require "pelton/lab/pinning"
      Thread.new { sleep }
      Pelton::Lab::Pinning.move(nil)
      Pelton::Lab::Pinning.move(Integer(ARGV[0]))
      puts Dir["/proc/self/task/*/status"].map { |path| File.read(path)[/^Cpus_allowed_list:\s+(\S+)/, 1] }
    RUBY

    assert_equal [core.to_s], allowed.split.uniq
    assert_operator allowed.split.size, :>, 1
  end

  def test_free_is_any_core_and_always_possible
    assert_equal [nil, nil], Pinning.cores(:free)
    assert_nil Pinning.unavailable(:free)
  end
end
