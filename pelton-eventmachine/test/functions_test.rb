# frozen_string_literal: true

require_relative "helper"

class EventMachineFunctionsTest < EventMachineTest
  def test_they_return_signatures
    em do
      port = port_of(EM.start_tcp_server("127.0.0.1", 0))
      reader, = IO.pipe
      signatures = [
        EM.connect_server("127.0.0.1", port), EM.bind_connect_server("127.0.0.1", 0, "127.0.0.1", port),
        EM.attach_fd(reader.fileno, true), EM.open_udp_socket("127.0.0.1", 0), EM.invoke_popen(%w[true true]),
        EM.watch_filename(__FILE__), EM.watch_pid(Process.pid),
        EM.attach_sd(TCPServer.new("127.0.0.1", 0).tap { |one| one.autoclose = false }.fileno)
      ]
      assert(signatures.all?(Integer))
      assert_equal signatures.uniq, signatures
      assert_nil EM.signal_loopbreak
      assert_nil EM.run_deferred_callbacks
      EM.stop
    end
  end
end
