# frozen_string_literal: true

require_relative "helper"

class EventMachineReadinessTest < EventMachineTest
  def test_the_block_is_called_for_each_event_that_is_wanted
    reader, writer = IO.pipe
    events_seen = []
    em do
      readiness = EM::Readiness.new(reader) do |events|
        events_seen << [events, reader.read_nonblock(1)]
        next unless events_seen.size == 3
        readiness.wanted = 0
        EM.add_timer(0.01) { EM.stop }
      end
      readiness.wanted = EM::Readiness::READABLE
      writer.write("abcd")
    end

    assert_equal [[1, "a"], [1, "b"], [1, "c"]], events_seen
  ensure
    reader.close
    writer.close
  end

  def test_a_closed_descriptor_calls_broken
    reader, writer = IO.pipe
    em do
      readiness = EM::Readiness.new(reader, broken: -> { EM.stop }) { flunk }
      readiness.wanted = EM::Readiness::READABLE
      EM.add_timer(0.005) { Pelton.close_io(reader) }
    end

    assert_predicate reader, :closed?
  ensure
    writer.close
  end
end
