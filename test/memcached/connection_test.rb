# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../shared/memcached_faults"
require_relative "../shared/memcached_gather_faults"
require_relative "../shared/memcached_styles"
require_relative "../support/fault_proxy"
require_relative "../support/lying_memcached"

# Each style against servers that lie, break off, or are not there. (A crowd needs a server that answers.)
(MemcachedStyles::ALL - [MemcachedStyles::Crowded]).each do |style|
  Object.const_set(:"MemcachedConnection#{style.name[/\w+\z/]}Test", Class.new(PeltonTest) {
    include LyingMemcached
    include style
    include MemcachedFaults
    include MemcachedGatherFaults
  })
end

class MemcachedConnectionStopTest < PeltonTest
  include LyingMemcached

  MISS = "EN\r\n"

  # Nothing that is owed keeps the next run going: neither to callbacks, nor to fibers that would not be cancelled, nor what
  # is asked again of a connection that has owed something since the last run.
  def test_the_reactor_stops_while_replies_are_owed
    with_lying_memcached(->(peer) { peer.commands(1) && peer.send(MISS) && peer.stall }) do |address|
      client = Pelton::Memcached::Client.new(address)
      client.get("first")
      log = []
      _, err = capture_io do
        2.times do
          Pelton.run(grace: 0.01) do
            [client.later.get("k"), client.later.get_multi("k")].each { |one| one.errback { |error| log << error.class } }
            spawn_stubborn { client.get("k") }
            spawn_stubborn { client.get_multi("k", "l") }
            Pelton::Reactor.current.yield
            Pelton.stop
          end
        end
      end

      assert_equal [Pelton::Cancelled] * 4, log
      assert_equal 2, err.scan("2 fiber(s)").size, err
      assert_equal :ended, Pelton.run { :ended }
    end
  end

  # Before the connection is there, too.
  def test_the_reactor_stops_while_the_connection_is_made
    with_lying_memcached(->(peer) { peer.stall }) do |address|
      client = Pelton::Memcached::Client.new(address)
      _, err = capture_io do
        Pelton.run(grace: 0.01) do
          spawn_stubborn { client.get_multi("k", "l") }
          Pelton::Reactor.current.yield
          Pelton.stop
        end
      end

      assert_includes err, "1 fiber(s)"
      assert_equal :ended, Pelton.run { :ended }
    end
  end

  private

  def spawn_stubborn
    Pelton.spawn do
      yield
    rescue Pelton::Cancelled
      retry
    end
  end
end
