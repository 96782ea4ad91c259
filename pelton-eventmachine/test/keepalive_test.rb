# frozen_string_literal: true

require_relative "helper"

class EventMachineKeepaliveTest < EventMachineTest
  def option(connection, level, name) = connection.get_sock_opt(level, name).unpack1("i")

  def test_keepalive_is_turned_on_and_off
    em do
      EM.connect("127.0.0.1", serve, handler(connection_completed: -> { EM.next_tick { EM.stop } })) do |connection|
        connection.enable_keepalive(30, 5, 3)

        refute_equal 0, option(connection, Socket::SOL_SOCKET, Socket::SO_KEEPALIVE)
        assert_equal 30, option(connection, Socket::IPPROTO_TCP, Socket::TCP_KEEPIDLE)
        assert_equal 5, option(connection, Socket::IPPROTO_TCP, Socket::TCP_KEEPINTVL)
        assert_equal 3, option(connection, Socket::IPPROTO_TCP, Socket::TCP_KEEPCNT)
        connection.disable_keepalive
        assert_equal 0, option(connection, Socket::SOL_SOCKET, Socket::SO_KEEPALIVE)
      end
    end
  end
end
