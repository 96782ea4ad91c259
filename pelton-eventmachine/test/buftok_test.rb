# frozen_string_literal: true

require_relative "helper"

class EventMachineBuftokTest < EventMachineTest
  def test_a_token_is_complete_when_its_delimiter_has_arrived
    tokenizer = BufferedTokenizer.new("--")

    assert_equal [], tokenizer.extract("one-")
    assert_equal %w[one two], tokenizer.extract("-two--thr")
    assert_equal "thr", tokenizer.flush
    assert_predicate tokenizer, :empty?
  end

  def test_the_size_of_a_token_is_limited
    assert_raises(RuntimeError) { BufferedTokenizer.new("\n", 3).extract("four") }
    assert_equal %w[ok], BufferedTokenizer.new("\n", 3).extract("ok\n")
  end
end
