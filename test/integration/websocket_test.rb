# frozen_string_literal: true

require "open3"
require_relative "../test_helper"
require_relative "../support/http/servers"
require "pelton/http"

# Pelton's WebSockets with those of node's ws, which is strict.
class WebSocketIntegrationTest < PeltonTest
  include HttpServers

  # Debian's node-ws, or a ws that npm has installed.
  NODE = {"NODE_PATH" => [ENV["NODE_PATH"], "/usr/share/nodejs", "/usr/lib/node_modules"].compact.join(":")}.freeze

  NODE_CLIENT = <<~JS
    const assert = require("assert"), WebSocket = require("ws");
    const messages = ["text", "ä€😀", "x".repeat(200000), Buffer.from([255, 0]), Buffer.alloc(0), Buffer.alloc(100000)];
    const socket = new WebSocket(process.argv[1], ["c", "b"], {perMessageDeflate: process.argv[2] === "deflate"});
    const answers = [];
    socket.on("open", () => {
      assert.equal(socket.protocol, "b");
      assert.equal(socket.extensions.startsWith("permessage-deflate"), process.argv[2] === "deflate");
      messages.forEach(message => socket.send(message));
      for (const part of ["frag", "men", ""]) socket.send(part, {fin: false});
      socket.send("ted", {fin: true});
      socket.ping("there?");
    });
    socket.on("message", (data, binary) => answers.push(binary ? data : data.toString()));
    socket.on("pong", data => {
      assert.equal(data.toString(), "there?");
      socket.close(4321, "enough");
    });
    socket.on("close", (code, reason) => {
      assert.equal(code, 4321);
      assert.equal(reason.toString(), "enough");
      assert.deepEqual(answers, [...messages, "fragmented"]);
      console.log("done");
    });
  JS

  NODE_SERVER = <<~JS
    const {WebSocketServer} = require("ws");
    const server = new WebSocketServer({host: "127.0.0.1", port: 0, perMessageDeflate: process.argv[1] === "deflate"});
    server.on("listening", () => console.log(server.address().port));
    server.on("connection", socket => {
      socket.on("message", (data, binary) => data.toString() === "bye" ? socket.close(4000, "bye") : socket.send(data, {binary}));
      socket.on("error", error => console.log(error.message));
    });
  JS

  def test_ws_as_client
    need_ws
    app = ->(env) do
      Pelton::HTTP::WebSocket.accept(env, protocols: %w[a b]) do |socket|
        socket.each { |message| socket.write(message) }
      end
    end
    serving_here(app) do |port|
      %w[deflate plain].each do |kind|
        output, = Open3.capture2e(NODE, "node", "-e", NODE_CLIENT, "ws://127.0.0.1:#{port}/", kind)

        assert_equal "done\n", output, kind
      end
    end
  end

  def test_ws_as_server
    need_ws
    %w[deflate plain].each do |kind|
      IO.popen([NODE, "node", "-e", NODE_SERVER, kind]) do |server|
        url = "ws://127.0.0.1:#{server.gets.to_i}"
        Pelton.run do
          socket = Pelton::HTTP::WebSocket.connect(url)
          answered = false
          ["text", "ä€😀", "", "x" * 200_000, "\xff\0".b, Random.new(1).bytes(100_000)].each do |message|
            socket.write(message)

            assert_equal message, socket.receive
          end
          socket.ping("there?") { answered = true }
          eventually { answered }
          socket.write("bye")
          assert_nil socket.receive
          assert_equal 4000, socket.close_code
          assert_equal "bye", socket.close_reason
        end
        Process.kill(:KILL, server.pid)

        assert_empty server.read, kind
      ensure
        Process.kill(:KILL, server.pid)
      end
    end
  end

  private

  def need_ws
    skip "node's ws is missing" unless system(NODE, "node", "-e", "require('ws')", err: File::NULL)
  end
end
