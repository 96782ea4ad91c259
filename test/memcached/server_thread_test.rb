# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/memcached"

class ServerThreadTest < PeltonTest
  ServerThread = Pelton::Memcached::ServerThread

  def test_the_block_is_called_on_a_reactor_of_another_thread
    seen = nil
    thread = ServerThread.start { seen = [Thread.current, Pelton::Reactor.running?] }

    assert_equal [thread, true], seen
    thread.join
  end

  def test_the_thread_lives_as_long_as_its_listener
    server = reactor = nil
    thread = ServerThread.start do
      reactor = Pelton::Reactor.current
      server = Pelton.listen("127.0.0.1", 0) {}
    end

    assert_predicate thread, :alive?
    assert_equal thread, ServerThread.call(reactor) { Thread.current }
    ServerThread.call(reactor) { server.close }
    thread.join
  end

  def test_errors_are_raised_in_the_caller
    assert_raises(KeyError) { ServerThread.start { {}.fetch(:absent) } }
    Pelton.run do
      reactor = Pelton::Reactor.current
      error = Thread.new do
        ServerThread.call(reactor) { {}.fetch(:absent) }
      rescue => raised
        raised
      end

      assert_kind_of KeyError, error.value
    end
  end

  def test_on_the_reactors_own_thread_the_block_is_called_at_once
    Pelton.run do
      assert_equal Fiber.current, ServerThread.call(Pelton::Reactor.current) { Fiber.current }
    end
  end
end
