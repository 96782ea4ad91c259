# frozen_string_literal: true

require "test_helper"
require "pelton/eventmachine"

# The base class of the tests of EventMachine's API. A test fails when it does not stop the loop.
class EventMachineTest < PeltonTest
  LIMIT = 10 * SLOW

  # Tests of other gems may have left an error handler behind.
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

  # Runs the loop until the block's deferrable has an outcome: [:ok, value] or [:failed, error].
  def outcome_of
    outcome = nil
    em do
      deferrable = yield
      deferrable.callback { |value| EM.stop.then { outcome = [:ok, value] } }
      deferrable.errback { |error| EM.stop.then { outcome = [:failed, error] } }
    end
    outcome
  end

  # Calls the block as soon as the condition is true.
  def once(condition)
    timer = EM.add_periodic_timer(0.002) do
      next unless condition.call
      timer.cancel
      yield
    end
  end

  # Starts a server with the handler on a free port.
  #
  # @return [Integer] the port
  def serve(handler = nil, *arguments, &block)
    port_of(EM.start_server("127.0.0.1", 0, handler, *arguments, &block))
  end

  def port_of(signature) = Socket.unpack_sockaddr_in(EM.get_sockname(signature)).first

  # Makes a module with these methods: {receive_data: ->(data) { ... }}. In a body, self is the connection.
  def handler(methods)
    Module.new { methods.each { |name, body| define_method(name, &body) } }
  end
end
