# frozen_string_literal: true

require_relative "../helper"
require "pelton/eventmachine/protocols/memcache"

class EventMachineMemcacheTransportTest < EventMachineTest
  def test_it_counts_as_a_connection_until_it_is_closed
    unbound = 0
    em do
      transport = EM::P::MemcacheTransport.new
      EM::Connection.new(transport.signature).define_singleton_method(:unbind) { EM.stop.then { unbound += 1 } }
      transport.close(false)
      transport.close(true)

      assert_equal 0, unbound # never inside close
    end

    assert_equal 1, unbound
  end

  def test_the_end_of_the_loop_closes_it
    unbound = 0
    em do
      EM::Connection.new(EM::P::MemcacheTransport.new.signature).define_singleton_method(:unbind) { unbound += 1 }
      EM.stop
    end

    assert_equal 1, unbound
  end
end
