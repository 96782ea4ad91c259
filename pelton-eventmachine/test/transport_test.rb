# frozen_string_literal: true

require_relative "helper"

class EventMachineTransportTest < EventMachineTest
  def test_unbind_is_called_after_a_callback_that_waits
    log = []
    em do
      port = serve(handler(
        receive_data: lambda do |_|
          EM.add_timer(0.001) { close_connection }
          sleep 0.01
          log << :received
        end,
        unbind: lambda do
          log << :unbound
          EM.stop
        end
      ))
      EM.connect("127.0.0.1", port) { |connection| connection.send_data("x") }
    end

    assert_equal [:received, :unbound], log
  end

  def test_threads_may_ask_and_set
    seen = nil
    em do
      port = serve
      EM.connect("127.0.0.1", port, handler(connection_completed: lambda do
        EM.defer(lambda do
          self.comm_inactivity_timeout = 60
          set_sock_opt(Socket::SOL_SOCKET, Socket::SO_KEEPALIVE, true)
          [Socket.unpack_sockaddr_in(get_peername), get_sock_opt(Socket::SOL_SOCKET, Socket::SO_KEEPALIVE).unpack1("i"),
            comm_inactivity_timeout]
        end, ->(values) { (seen = [values, port]) && EM.stop })
      end))
    end
    (address, keepalive, timeout), port = seen

    assert_equal [port, "127.0.0.1"], address
    refute_equal 0, keepalive
    assert_in_delta 60, timeout
  end

  def test_functions_for_an_unknown_signature_do_nothing
    em do
      assert_equal(-1, EM.send_data(-5, "x", 1))
      assert_nil EM.get_peername(-5)
      assert_nil EM.close_connection(-5, false)
      EM.stop
    end
  end
end
