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
    {fail: [:errback], succeed: [:callback]}.each do |state, expected|
      log = []
      em do
        completion = EM::Completion.new
        %i[callback errback].each { |name| completion.public_send(name) { log << name } }
        %i[fail succeed].partition { |one| one == state }.flatten.each { |one| completion.public_send(one) }
        EM.next_tick { EM.stop }
      end

      assert_equal expected, log, "#{state} first"
    end
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
