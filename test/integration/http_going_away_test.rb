# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/http/serving"
require_relative "../support/websocket_peer"

# `pelton serve` ends, or replaces its workers, while foreign clients have WebSockets and event streams open:
# all get a closing message, and reach the next worker.
class HTTPGoingAwayTest < PeltonTest
  include HttpServing

  self.deadline = 120

  # Each handler first sends its process id.
  APPLICATION = <<~RUBY
    require "pelton/http/websocket"
    process = Process.pid.to_s
    run(lambda do |env|
      case env["PATH_INFO"]
      when "/direct"
        Pelton::HTTP::WebSocket.accept(env) { |socket| socket.write(process).each { |message| socket.write(message) } }
      when "/callback" then Pelton::HTTP::WebSocket.accept(env) do |socket|
        socket.write(process).on_message { |message| socket.write(message) }
      end
      when "/events"
        events = Pelton::HTTP::EventStream.new { |stream| loop { stream.emit(process) && sleep(0.01) } }
        [200, events.headers, events]
      end
    end)
  RUBY

  # Both clients connect, print the process id, and print the reason when the server closes the WebSocket; with a second
  # argument they connect again.
  PYTHON = <<~PYTHON
    import asyncio, sys, websockets

    async def main():
        async with websockets.connect(sys.argv[1]) as socket:
            print(await socket.recv(), flush=True)
            await socket.wait_closed()
            print(socket.close_code, socket.close_reason, flush=True)
        if len(sys.argv) > 2:
            async with websockets.connect(sys.argv[1]) as socket:
                print(await socket.recv(), flush=True)

    asyncio.run(main())
  PYTHON

  NODE = <<~JS
    const WebSocket = require("ws"), [url, again] = process.argv.slice(1);
    const first = new WebSocket(url);
    first.on("message", data => console.log(data.toString()));
    first.on("close", (code, reason) => {
      console.log(code, reason.toString());
      if (again) new WebSocket(url).on("message", data => { console.log(data.toString()); process.exit(); });
    });
  JS

  NODE_PATH = {"NODE_PATH" => [ENV["NODE_PATH"], "/usr/share/nodejs", "/usr/lib/node_modules"].compact.join(":")}.freeze
  CLIENTS = {
    "python3-websockets" => [{}, "/usr/bin/python3", "-c", PYTHON],
    "ws" => [NODE_PATH, "node", "-e", NODE]
  }.freeze

  def test_a_phased_restart
    with_clients(workers: 2, again: true) do |before|
      Process.kill("USR1", @master)
      in_time { serving.then { |now| now.any? && (now & before).empty? } }

      each_client do |name, first, why, second|
        assert_includes before, first, name
        assert_equal "1001 the server stops", why, name
        refute_includes [0, first], second.to_i, name # a new worker, or another old one that has not been replaced yet
      end
    end
  end

  [2, 0].each do |workers|
    define_method("test_the_end_of_#{workers}_workers") do
      with_clients(workers: workers) do |before|
        silent = silent_socket
        Process.kill("TERM", @master)

        assert_equal 0, wait_for_the_end.exitstatus
        each_client do |name, first, why, second|
          assert_includes before, first, name
          assert_equal "1001 the server stops", why, name
          assert_nil second, name
        end
        # The silent client got the closing message, too, and the server stopped waiting when the client did not answer.
        assert_equal "\x88\x12\x03\xE9the server stops".b, silent.read.byteslice(-20..)
      end
    end
  end

  private

  def with_clients(workers:, again: false)
    Dir.mktmpdir do |folder|
      @folder = folder
      @port = free_port
      configure(["tcp://127.0.0.1:#{@port}"], workers)
      start
      connect(again)
      yield serving
      assert_empty log.lines.grep_v(/\Apelton: cluster: /)
    ensure
      @clients&.each { |_, io, _| Process.kill("KILL", io.pid) && io.close unless io.closed? }
      kill if @master
    end
  end

  def configure((address), workers)
    settings = "bind #{address.dump}\nworkers #{workers}\ncontrol \"control\"\nquiet true\nshutdown_timeout 60\n"
    {"config.ru" => APPLICATION, "pelton.rb" => settings}.each { |name, text| File.write("#{@folder}/#{name}", text) }
  end

  # Starts the clients: [name, output, id of the process that serves the client] of each.
  def connect(again)
    commands = CLIENTS.select { |name, command| system(*command[0, 3], probe(name), out: File::NULL, err: File::NULL) }
    commands = commands.to_a.product(%w[direct callback]).to_h do |(name, command), style|
      ["#{name} #{style}", [*command, "ws://127.0.0.1:#{@port}/#{style}", *("again" if again)]]
    end
    commands["curl"] = [{}, "curl", "--silent", "--no-buffer", "http://127.0.0.1:#{@port}/events"]
    @clients = commands.map do |name, command|
      io = IO.popen(command, err: [:child, :out])
      [name, io, (line = io.gets)[/\d+/]&.to_i || flunk("#{name}: #{line}#{io.read}")]
    end
  end

  def probe(name) = (name == "ws") ? "require('ws')" : "import websockets"

  # Yields each client's lines. For curl the exit status is enough: curl fails when the body is incomplete.
  def each_client
    @clients.each do |name, io, first|
      rest = io.read
      io.close
      if name == "curl"
        assert_predicate $?, :success?, rest
      else
        yield name, first, *rest.lines(chomp: true)
      end
    end
  end

  # A client that reads, and answers nothing.
  def silent_socket
    socket = TCPSocket.new("127.0.0.1", @port)
    socket.write(WebSocketPeer.handshake(path: "/direct"))
    nil until socket.gets == "\r\n"
    socket
  end
end
