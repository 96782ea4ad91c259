# frozen_string_literal: true

require_relative "helper"

class EventMachineReadinessTest < EventMachineTest
  def test_it_tells_again_and_again_what_is_wanted
    reader, writer = IO.pipe
    told = []
    em do
      readiness = EM::Readiness.new(reader) do |events|
        told << [events, reader.read_nonblock(1)]
        next unless told.size == 3
        readiness.wanted = 0
        EM.add_timer(0.01) { EM.stop }
      end
      readiness.wanted = EM::Readiness::READABLE
      writer.write("abcd")
    end

    assert_equal [[1, "a"], [1, "b"], [1, "c"]], told
  ensure
    reader.close
    writer.close
  end

  def test_a_descriptor_that_is_closed_breaks_it
    reader, writer = IO.pipe
    em do
      readiness = EM::Readiness.new(reader, broken: -> { EM.stop }) { flunk }
      readiness.wanted = EM::Readiness::READABLE
      EM.add_timer(0.005) { Pelton.close(reader) }
    end

    assert_predicate reader, :closed?
  ensure
    writer.close
  end
end
