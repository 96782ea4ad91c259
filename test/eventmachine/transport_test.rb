# frozen_string_literal: true

require_relative "helper"

class EventMachineTransportTest < EventMachineTest
  def test_unbind_waits_until_a_callback_is_done
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

  def test_one_that_is_gone_does_nothing
    em do
      assert_equal(-1, EM.send_data(-5, "x", 1))
      assert_nil EM.get_peername(-5)
      assert_nil EM.close_connection(-5, false)
      EM.stop
    end
  end
end
