# frozen_string_literal: true

require_relative "../helper"

class EventMachineTcpConnectTesterTest < EventMachineTest
  def test_a_port_that_answers
    seconds = nil
    em { EM::P::TcpConnectTester.test("127.0.0.1", serve).callback { |value| EM.stop.then { seconds = value } } }

    assert_kind_of Float, seconds
  end

  def test_a_port_that_does_not
    seconds = nil
    port = free_port
    em do
      tester = EM::P::TcpConnectTester.test("127.0.0.1", port)
      tester.callback { flunk }
      tester.errback { |value| EM.stop.then { seconds = value } }
    end

    assert_kind_of Float, seconds
  end
end
