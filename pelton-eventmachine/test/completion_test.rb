# frozen_string_literal: true

require_relative "helper"

class EventMachineCompletionTest < EventMachineTest
  def test_it_passes_through_states
    log = []
    em do
      completion = EM::Completion.new
      completion.stateback(:half) { |value| log << [:half, value] }
      completion.callback { |value| log << [:callback, value] }
      completion.errback { log << :never }
      completion.completion { log << :end }

      assert_equal :unknown, completion.state
      completion.change_state(:half, 1)
      refute_predicate completion, :completed?
      completion.succeed(2)
      assert_predicate completion, :completed?
      assert_equal [2], completion.value
      completion.callback { |value| log << [:late, value] }
      EM.stop
    end

    assert_equal [[:half, 1], [:callback, 2], :end, [:late, 2]], log
  end

  def test_a_final_state_forgets_the_blocks_of_others
    log = []
    em do
      completion = EM::Completion.new
      completion.callback { log << :never }
      completion.errback { log << :failed }
      completion.fail
      completion.succeed
      EM.next_tick { EM.stop }
    end

    assert_equal [:failed], log
  end

  def test_the_other_end_is_over_when_it_is_completed
    log = []
    em do
      completion = EM::Completion.new
      completion.errback { log << :never }
      completion.succeed
      completion.fail
      EM.stop
    end

    assert_empty log
  end

  def test_a_timeout_fails_it_unless_it_is_completed
    log = []
    em do
      EM::Completion.new.tap { |completion| completion.timeout(0.001, :never) }.tap(&:succeed).errback { log << :never }
      late = EM::Completion.new
      late.timeout(0.002, :late)
      late.errback do |why|
        log << why
        EM.stop
      end
    end

    assert_equal [:late], log
  end
end
