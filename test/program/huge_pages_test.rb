# frozen_string_literal: true

require_relative "../test_helper"
require "pelton"
require "pelton/program/huge_pages"

# Which memory is joined is tested in test/core/base/test_huge_pages.c.
class HugePagesTest < PeltonTest
  HugePages = Pelton.const_get(:HugePages)

  def test_a_pass_after_each_pause
    passes = []
    HugePages.stub(:_join, -> { passes << Thread.current }) do
      Pelton.run { HugePages.join_while_memory_grows(pauses: [0, 0.001, 0.001]) }
    end

    assert_equal 3, passes.size
    refute_includes passes, Thread.current, "the loop goes on meanwhile"
  end

  def test_the_program_goes_on_with_what_it_has
    kept = Array.new(200_000) { |number| "text #{number} that is longer than a slot of the smallest size" }

    HugePages._join

    assert_equal "text 199999 that is longer than a slot of the smallest size", kept.last
    GC.start

    assert_equal 200_000, kept.uniq.size
  end
end
