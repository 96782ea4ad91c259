# frozen_string_literal: true

require_relative "helper"

class EventMachineInactivityTest < EventMachineTest
  def setup
    @reasons = []
    reasons = @reasons
    @client = handler(unbind: ->(reason) { reasons << reason && EM.stop })
  end

  def test_an_idle_connection_is_closed
    em { EM.connect("127.0.0.1", serve, @client) { |connection| connection.comm_inactivity_timeout = 0.02 } }

    assert_equal [Errno::ETIMEDOUT], @reasons
  end

  def test_an_idle_socket_for_datagrams_is_closed
    em { EM.open_datagram_socket("127.0.0.1", 0, @client) { |socket| socket.comm_inactivity_timeout = 0.01 } }

    assert_equal [Errno::ETIMEDOUT], @reasons
  end

  def test_zero_removes_the_limit
    em do
      EM.connect("127.0.0.1", serve, @client) do |connection|
        connection.comm_inactivity_timeout = 0.01
        connection.comm_inactivity_timeout = 0
        assert_in_delta 0.0, connection.comm_inactivity_timeout
      end
      EM.add_timer(0.05) { EM.stop }
    end

    refute_includes @reasons, Errno::ETIMEDOUT
  end
end
