# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/http_script"
require "pelton/http"

class ClientPoolTest < PeltonTest
  def test_an_idle_connection_is_kept_for_so_long
    with_server do |server|
      client = Pelton::HTTP::Client.new(server.url, keep_alive: 0)
      2.times { client.get("/") }

      assert_equal 2, server.connections
    end
  end

  def test_origins_that_nobody_uses_are_forgotten
    with_server do |server|
      client = Pelton::HTTP::Client.new(keep_alive: 0)
      150.times { |number| client.get("http://127.0.0.#{number + 1}:#{server.port}/") rescue nil } # standard:disable Style/RescueModifier

      assert_operator client.stats[:open], :<=, 101
    end
  end

  def test_the_last_to_be_used_is_the_next_one
    with_server do |server|
      Pelton.run do
        client = Pelton::HTTP::Client.new(server.url)
        Array.new(3) { client.later.get("/") }.each(&:await)
        used = Array.new(5) { client.get("/") && server.seen.last.connection }

        assert_equal 1, used.uniq.size
        assert_equal({open: 3, idle: 3}, client.stats)
      end
    end
  end

  def test_a_connection_that_cannot_be_made_takes_no_place
    client = Pelton::HTTP::Client.new("http://127.0.0.1:#{free_port}", connections: 1)

    3.times { assert_raises(Pelton::ConnectionError) { client.get("/") } }
    assert_equal({open: 0, idle: 0}, client.stats)
  end

  private

  def with_server
    server = HTTPScript.new { "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" }
    yield server
  ensure
    server.close
  end
end
