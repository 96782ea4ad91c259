# frozen_string_literal: true

require_relative "helper"

class EventMachineAcceptorTest < EventMachineTest
  def test_a_server_that_is_stopped_accepts_no_more_and_keeps_its_connections
    log = []
    em do
      accepted = false
      signature = EM.start_server("127.0.0.1", 0, handler(post_init: -> { accepted = true }, receive_data: ->(data) { log << data && EM.stop }))
      port = port_of(signature)
      EM.connect("127.0.0.1", port) do |connection|
        once(-> { accepted }) do
          EM.stop_server(signature)
          EM.connect("127.0.0.1", port, handler(unbind: lambda do |reason|
            log << reason
            connection.send_data("still there")
          end))
        end
      end
    end

    assert_equal [Errno::ECONNREFUSED, "still there"], log
  end

  def test_what_its_handler_sends_and_receives_waits_for_a_slow_post_init
    log = []
    em do
      port = serve(handler(post_init: -> { sleep(0.01) && log << :ready }, receive_data: ->(data) { log << data && EM.stop }))
      EM.connect("127.0.0.1", port) { |connection| connection.send_data("data") }
    end

    assert_equal [:ready, "data"], log
  end
end
