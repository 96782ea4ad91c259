# frozen_string_literal: true

require "digest/sha1"
require "pelton/http"
require "pelton/http/websocket"

# A server of WebSockets in this process, and a client that sends exactly the given bytes. For PeltonTests.
module WebSocketPeer
  KEY = "dGhlIHNhbXBsZSBub25jZQ=="
  OPCODES = {continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10}.freeze

  # A frame that may be malformed. With a mask that changes nothing; width: of the length, 126 for 2 bytes, 127 for 8.
  def self.encode(first, length, payload = "", width = nil, mask:)
    width ||= [length, 126, 127][[126, 65_536].count { |least| length >= least }]
    [first, (mask ? 0x80 : 0) | width, length].pack("CC#{{126 => "S>", 127 => "Q>"}[width]}") +
      (mask ? "\0\0\0\0" : "") + payload.b
  end

  # A client's request.
  def self.handshake(headers = "", path: "/", host: "x")
    "GET #{path} HTTP/1.1\r\nHost: #{host}\r\nConnection: upgrade\r\nUpgrade: websocket\r\n" \
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: #{KEY}\r\n#{headers}\r\n"
  end

  private

  def with_echo(**options, &block)
    app = ->(env) do
      Pelton::HTTP::WebSocket.accept(env, **options) { |socket| socket.each { |message| socket.write(message) } }
    end
    with_server(app, &block)
  end

  def with_server(app, tls: nil)
    Pelton.run do
      @server = server = Pelton::HTTP::Server.new(app)
      listener =
        tls ? Pelton.listen("127.0.0.1", 0, tls: tls) do |stream|
          server.serve(stream)
        end : server.listen("tcp://127.0.0.1:0")
      yield "ws://127.0.0.1:#{listener.port}/"
    ensure
      Pelton.stop
    end
  end

  # A server's socket on a stream, as if the handshake were done.
  def server_socket(stream, **options)
    settings = Pelton::HTTP::WebSocket::DEFAULTS.merge(options)
    frames = Pelton::HTTP::WebSocketFrames.new(masked: true, limit: settings.delete(:max_message))
    Pelton::HTTP::WebSocket.new(stream, frames, client: false, protocol: nil, deflate: nil, **settings).begin
  end

  # A new member's peer; between the two there is space for some 200 KB.
  def join(room)
    ours, peer = Pelton::Stream.pair
    room.add(server_socket(ours))
    peer
  end

  # A stream on which the handshake is done.
  def raw(url, headers = "")
    uri = URI(url)
    shake_hands(Pelton.connect(uri.host, uri.port), headers)
  end

  def shake_hands(stream, headers = "")
    stream.write(WebSocketPeer.handshake(headers))
    nil until stream.gets == "\r\n"
    stream
  end

  # The server's part of the handshake.
  def shake(stream, env)
    accept = [Digest::SHA1.digest(env["HTTP_SEC_WEBSOCKET_KEY"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")].pack("m0")
    stream.write(
      "HTTP/1.1 101 OK\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: #{accept}\r\n\r\n"
    )
  end

  # Where no reactor runs: a client's socket, which is yielded, of a server that shakes hands and sends the bytes.
  # Returns what it read.
  def connecting_to_a_server_of(bytes)
    server = TCPServer.new("127.0.0.1", 0)
    answer = Thread.new do
      io = server.accept
      shake(io, {"HTTP_SEC_WEBSOCKET_KEY" => io.gets("\r\n\r\n")[/Sec-WebSocket-Key: (\S+)/i, 1]})
      io.write(bytes)
      io.read
    end
    yield Pelton::HTTP::WebSocket.connect("ws://127.0.0.1:#{server.addr[1]}/", deflate: false)
    answer.value
  ensure
    server.close
  end

  # A client's frame, with a mask that changes nothing.
  def frame(opcode, data = "", fin: true, rsv1: false)
    first = (fin ? 0x80 : 0) | (rsv1 ? 0x40 : 0) | OPCODES.fetch(opcode)
    WebSocketPeer.encode(first, data.bytesize, data, mask: true)
  end

  # The next frame of a server: [opcode, data].
  def next_frame(stream)
    opcode, length = stream.read(2).unpack("CC")
    length = stream.read(2).unpack1("S>") if length == 126
    length = stream.read(8).unpack1("Q>") if length == 127
    [OPCODES.key(opcode & 15), stream.read(length)]
  end

  # The code with which the server closes. Fails when the server has sent another frame before.
  def close_code_of(stream)
    opcode, data = next_frame(stream)
    assert_equal :close, opcode
    assert_equal "", stream.read
    data.unpack1("S>")
  end
end
