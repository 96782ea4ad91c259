# frozen_string_literal: true

require "tmpdir"
require_relative "helper"

class EventMachineAcceptorTest < EventMachineTest
  def test_a_stopped_server_accepts_no_more_and_keeps_its_connections
    log = []
    em do
      accepted = false
      signature =
        EM.start_server("127.0.0.1", 0,
          handler(post_init: -> { accepted = true }, receive_data: ->(data) { log << data && EM.stop }))
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

  def test_a_server_that_stops_accepts_the_clients_in_its_backlog
    answers = nil
    counts = []
    em do
      server = EM.start_server("127.0.0.1", 0, handler(receive_data: ->(data) {
        send_data(data) &&
              close_connection_after_writing
      }))
      EM.add_timer(0) do
        clients = backlog(port_of(server), 3)
        EM.stop_server(server)
        counts << EM.connection_count
        EM.next_tick { counts << EM.connection_count }
        EM.defer(-> { clients.map(&:read) }, ->(read) { (answers = read) && EM.stop })
      end
    end

    assert_equal %w[data] * 3, answers
    assert_equal [1, 3], counts
  end

  def test_the_backlog_of_an_attached_socket_stays_the_callers
    listener = TCPServer.new("127.0.0.1", 0)
    em do
      server = EM.attach_server(listener)
      EM.add_timer(0) do
        backlog(listener.local_address.ip_port, 1)
        EM.stop_server(server)
        EM.stop
      end
    end

    assert_equal "data", listener.accept.readpartial(9)
  ensure
    listener.close
  end

  def test_a_server_has_its_connection_before_a_client_of_the_same_process
    Dir.mktmpdir do |folder|
      {path: ["#{folder}/socket"], port: ["127.0.0.1", 0]}.each_value do |address|
        log = []
        em do
          server = EM.start_server(*address, handler(post_init: -> { log << :post_init }))
          address = ["127.0.0.1", port_of(server)] if address.last == 0
          EM.connect(*address, handler(connection_completed: -> { log << :completed && EM.stop }))
        end

        assert_equal [:post_init, :completed], log
      end
    end
  end

  def test_data_is_delivered_after_a_slow_post_init
    log = []
    em do
      port = serve(handler(post_init: -> { sleep(0.01) && log << :ready }, receive_data: ->(data) {
        log << data &&
              EM.stop
      }))
      EM.connect("127.0.0.1", port) { |connection| connection.send_data("data") }
    end

    assert_equal [:ready, "data"], log
  end

  private

  # @return [Array<Socket>] clients that have connected and sent data, though the loop has not run meanwhile
  def backlog(port, count)
    Array.new(count) do
      Socket.new(:INET, :STREAM).tap do |client|
        client.connect_nonblock(Addrinfo.tcp("127.0.0.1", port), exception: false)
        client.write_nonblock("data")
      end
    end
  end
end
