# frozen_string_literal: true

require_relative "helper"

class EventMachineSignaturesTest < EventMachineTest
  def test_connections_are_reached_by_their_signatures
    em do
      assert_equal 0, EM.connection_count
      port = serve
      assert_equal 1, EM.connection_count
      connection = EM.connect("127.0.0.1", port)
      signature = connection.signature

      assert_equal 2, EM.connection_count
      assert_equal 2, EM.send_data(signature, "ab", 2)
      EM.set_comm_inactivity_timeout(signature, 3)
      assert_in_delta 3.0, EM.get_comm_inactivity_timeout(signature)
      EM.set_pending_connect_timeout(signature, 4)
      assert_in_delta 4.0, EM.get_pending_connect_timeout(signature)
      assert EM.pause_connection(signature)
      assert EM.connection_paused?(signature)
      assert EM.resume_connection(signature)
      assert_equal 0, EM.report_connection_error_status(signature)
      assert_kind_of Integer, EM.get_file_descriptor(signature)
      EM.close_connection(signature, false)
      assert_equal 1, EM.num_close_scheduled
      EM.stop
    end
  end
end
