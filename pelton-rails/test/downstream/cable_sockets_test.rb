# frozen_string_literal: true

require_relative "../support/channel_client"
require_relative "../support/rails_serving"
require_relative "../../../test/support/databases"

# Where config.pelton.cable is false.
class CableSocketsTest < PeltonTest
  include RailsServing
  include Databases

  self.deadline = 120

  def test_they_are_closed_with_1001_at_a_stop_and_come_back_to_the_new_process
    serving = serve("waiting", environment: {"OFF" => "1"})
    Pelton.run do
      clients = Array.new(3) { ChannelClient.new(serving.port, "NewsChannel") }
      processes = clients.map { |client| client.ask("echo", text: "hello") }.uniq

      assert_equal "hello", processes.fetch(0)["echo"]
      # A client that has left does not hold up the stop.
      gone = ChannelClient.new(serving.port, "NewsChannel")
      gone.socket.abort
      Process.kill("USR2", serving.pid)
      clients.each { |client| closed(client) }
      again = eventually("the new process", timeout: 30) { come_back(serving.port) }

      refute_equal processes.fetch(0)["process"], again.ask("echo", text: "again")["process"]
      told = Pelton.spawn { Pelton::HTTP.get("http://127.0.0.1:#{serving.port}/broadcast?text=news").body }

      news = again.await { |message| message["message"].is_a?(Hash) && message["message"]["text"] }
      assert_equal({"text" => "news"}, news["message"])
      told.await
      Process.kill("TERM", serving.pid)
      closed(again)
    end

    assert_equal 0, serving.stop.exitstatus
  end

  def test_a_broadcast_by_redis_reaches_the_sockets_of_all_workers
    skip "no redis-server" unless system("which redis-server", out: File::NULL)
    assert_broadcast_to_all_workers("CABLE" => "redis", "REDIS_URL" => "redis://127.0.0.1:#{redis}")
  end

  # Rails' own server subscribes in its threads, and each worker publishes to the others.
  def test_a_broadcast_by_the_adapter_pelton_reaches_the_sockets_of_all_workers
    assert_broadcast_to_all_workers("CABLE" => "pelton")
  end

  # The stop may last longer than this test: a socket that held it up would fail the test by its deadline.
  def test_a_socket_that_the_application_has_closed_and_its_client_does_not_answer_does_not_hold_up_the_stop
    serving = serve("waiting", environment: {"OFF" => "1", "PELTON_SHUTDOWN_TIMEOUT" => "1000"})
    silent = serving.peer.say(<<~HEAD)
      GET /cable HTTP/1.1
      host: 127.0.0.1
      origin: http://127.0.0.1
      upgrade: websocket
      connection: upgrade
      sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==
      sec-websocket-version: 13
      sec-websocket-protocol: actioncable-v1-json

    HEAD
    eventually("the socket") { serving.body("/counts").include?(%("sockets":1)) }
    serving.get("/restart_cable")

    assert_equal 0, serving.stop.exitstatus
  ensure
    silent&.close
  end

  private

  def assert_broadcast_to_all_workers(environment)
    serving = serve("waiting", options: %w[-w 2 --preload], environment: {"OFF" => "1", **environment})
    Pelton.run do
      clients = []
      processes = ->(client) { client.ask("echo", text: "who")["process"] }
      clients << ChannelClient.new(serving.port, "NewsChannel") until clients.size > 3 &&
          (clients.map(&processes).uniq.size == 2 || clients.size > 60)

      Pelton::HTTP.get("http://127.0.0.1:#{serving.port}/broadcast?text=all")
      clients.each do |client|
        all = client.await { |message| message["message"].is_a?(Hash) && message["message"]["text"] }
        assert_equal "all", all.dig("message", "text")
      end
      Process.kill("TERM", serving.pid)
      clients.each { |client| closed(client) }
    end

    assert_equal 0, serving.stop.exitstatus
  end

  # Action Cable's own message says that the client shall come back, and the code says that the server goes away.
  def closed(client)
    assert_equal({"type" => "disconnect", "reason" => "server_restart", "reconnect" => true},
      client.await { |message| message["type"] == "disconnect" })
    assert_nil client.await { false }
    assert_equal 1001, client.socket.close_code
  end

  def come_back(port)
    ChannelClient.new(port, "NewsChannel")
  rescue Pelton::ConnectionError, Pelton::ClosedError
    nil
  end
end
