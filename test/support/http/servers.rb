# frozen_string_literal: true

require "pelton/http"

# Servers in this process, which are gone when the block ends. For PeltonTests.
module HttpServers
  private

  # Runs the block in the server's reactor: its clients must not block.
  #
  # @param options [Hash] of the server
  # @yieldparam port [Integer]
  # @yieldparam server [Pelton::HTTP::Server]
  def serving_here(app, **options)
    Pelton.run do
      server = Pelton::HTTP::Server.new(app, **options)
      yield server.listen("tcp://127.0.0.1:0").port, server
    ensure
      Pelton.stop
    end
  end

  # The server has a thread and a reactor of its own: for clients that block, such as browsers.
  #
  # @param make [#call] makes the application, in that reactor
  # @param tls [Hash, nil] of the listener
  # @yieldparam port [Integer]
  # @yieldparam on_loop [Proc] calls its block in that reactor, with the server
  def serving_on_a_thread(app = nil, make: -> { app }, tls: nil)
    started = Thread::Queue.new
    thread = Thread.new do
      Pelton.run do
        server = Pelton::HTTP::Server.new(make.call)
        listener = tls ? server.listen("ssl://127.0.0.1:0", tls: tls) : server.listen("tcp://127.0.0.1:0")
        started << [listener.port, server, Pelton::Reactor.current]
        sleep
      end
    end
    port, server, reactor = started.pop
    yield port, ->(&block) { reactor.next_tick { block.call(server) } }
  ensure
    reactor&.stop
    thread&.join
  end
end
