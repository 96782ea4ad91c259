# frozen_string_literal: true

require "pelton/memcached"

# The embedded memcached server on a reactor of the test.
module MemcachedServer
  Server = Pelton::Memcached::Server
  Client = Pelton::Memcached::Client

  # Yields a running server, inside run, and stops it.
  def with_server(**options)
    Pelton.run do
      server = Server.new(**options).start
      yield server
    ensure
      server&.stop
    end
  end

  def client_of(server) = Client.new("127.0.0.1:#{server.port}", timeout: 20)
end
