# frozen_string_literal: true

require "open3"
require_relative "../test_helper"
require "pelton/http"

# Pelton's WebSockets and those of Python's websockets, which is strict.
class WebSocketIntegrationTest < PeltonTest
  PYTHON = "/usr/bin/python3" # Debian's, which has its packages

  CLIENT = <<~PYTHON
    import asyncio, sys, websockets

    async def main():
        async with websockets.connect(sys.argv[1], subprotocols=["b"]) as socket:
            assert socket.subprotocol == "b"
            for message in ["text", "ä€😀", "x" * 200000, b"\\xff\\x00", b"", bytes(100000)]:
                await socket.send(message)
                assert await socket.recv() == message
            await socket.send(["frag", "men", "ted"])
            assert await socket.recv() == "fragmented"
            await (await socket.ping())
        assert socket.close_code == 1000
        print("done")

    asyncio.run(main())
  PYTHON

  SERVER = <<~PYTHON
    import asyncio, websockets

    async def echo(socket):
        async for message in socket:
            await socket.send(message)

    async def main():
        async with websockets.serve(echo, "127.0.0.1", 0) as server:
            print(server.sockets[0].getsockname()[1], flush=True)
            await asyncio.Future()

    asyncio.run(main())
  PYTHON

  def setup
    skip "python3-websockets is missing" unless system(PYTHON, "-c", "import websockets", err: File::NULL)
  end

  def test_a_foreign_client
    app = ->(env) { Pelton::HTTP::WebSocket.accept(env, protocols: %w[a b]) { |socket| socket.each { |message| socket.write(message) } } }
    Pelton.run do
      listener = Pelton::HTTP::Server.new(app).listen("tcp://127.0.0.1:0")
      output, = Open3.capture2e(PYTHON, "-c", CLIENT, "ws://127.0.0.1:#{listener.port}/")

      assert_equal "done\n", output
    ensure
      Pelton.stop
    end
  end

  def test_a_foreign_server
    IO.popen([PYTHON, "-c", SERVER]) do |server|
      Pelton.run do
        socket = Pelton::HTTP::WebSocket.connect("ws://127.0.0.1:#{server.gets.to_i}")
        ["text", "x" * 200_000, Random.new(1).bytes(100_000)].each do |message|
          socket.write(message)

          assert_equal message, socket.receive
        end
        socket.close
        assert_equal [nil, 1000], [socket.receive, socket.close_code]
      end
    ensure
      Process.kill(:KILL, server.pid)
    end
  end
end
