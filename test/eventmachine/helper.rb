# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/eventmachine"

# The base of the tests of EventMachine's API. The loop of each test ends by itself, or the test fails.
class EventMachineTest < PeltonTest
  LIMIT = 10 * SLOW

  # Tests of a server that runs EventMachine's loop leave its handler behind.
  def before_setup
    super
    EM.error_handler
  end

  def teardown
    EM.error_handler
    refute_predicate EM, :reactor_running?
  end

  # Runs the loop with the block.
  def em
    EM.run do
      EM.add_timer(LIMIT) { raise "the test did not stop the loop" }
      yield
    end
  end

  # Calls the block when the condition has come true.
  def once(condition)
    timer = EM.add_periodic_timer(0.002) do
      next unless condition.call
      timer.cancel
      yield
    end
  end

  # A server with the handler on a free port.
  #
  # @return [Integer] its port
  def serve(handler = nil, *arguments, &block)
    port_of(EM.start_server("127.0.0.1", 0, handler, *arguments, &block))
  end

  def port_of(signature) = Socket.unpack_sockaddr_in(EM.get_sockname(signature)).first

  # A module with the methods: {receive_data: ->(data) { ... }}; each is self's.
  def handler(methods)
    Module.new { methods.each { |name, body| define_method(name, &body) } }
  end
end
