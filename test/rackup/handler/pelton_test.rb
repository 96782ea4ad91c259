# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/http_peer"
require "rackup"

class RackupHandlerPeltonTest < PeltonTest
  include HttpPeer

  def test_rackup_finds_it
    handler = Rackup::Handler.get("pelton")

    assert_equal "Rackup::Handler::Pelton", handler.name
    assert_includes handler.valid_options.keys, "Port=PORT"
  end

  def test_it_serves_with_rackups_options
    response = options = nil
    Rackup::Handler.get("pelton").run(HELLO, Host: "127.0.0.1", Port: "0", concurrency: "5", request_timeout: "1.5") do |launcher|
      options = launcher.instance_variable_get(:@configuration).server_options
      Pelton.spawn do
        client = Peer.new(TCPSocket.new("127.0.0.1", launcher.server.listeners.first.port))
        response = client.get("/")
        client.close
        Process.kill("INT", Process.pid)
      end
    end

    assert_equal "hello", response.body
    assert_equal({concurrency: 5, request_timeout: 1.5}, options)
  end
end
