# frozen_string_literal: true

require_relative "http2_peer"
require_relative "../websocket_peer"

# A client's WebSocket over HTTP/2 (RFC 8441): one stream of an {Http2Peer}, read and written like an IO. So
# {WebSocketPeer}'s methods for frames take it.
class Http2Tunnel
  FIELDS = {":protocol" => "websocket", "sec-websocket-version" => "13"}.freeze
  MOST = 16_384 # bytes of a frame

  # The stream's number.
  attr_reader :id

  attr_reader :client

  def initialize(client, path = "/", fields: {}, **options)
    @client = client
    @id = client.request(path, method: "CONNECT", fields: FIELDS.merge(fields).compact, ended: false, **options)
    @at = 0
  end

  # Waits for the head of the response.
  def status
    step until response.status || client.ended?(id)
    response.status
  end

  def response = client.so_far(id)

  # What reset the stream.
  def error
    step until response.error
    response.error
  end

  def write(bytes, ended: false)
    pieces = bytes.b.scan(/.{1,#{MOST}}/mno)
    pieces = [""] if pieces.empty?
    pieces.each_with_index do |piece, number|
      client.frame(:data, id, piece, flags: (ended && number == pieces.size - 1) ? Http2Peer::END_STREAM : 0)
    end
    self
  end

  # So many bytes, or all up to the end.
  def read(length = nil)
    step until client.ended?(id) || length && response.body.bytesize >= @at + length
    bytes = response.body.byteslice(@at, length || response.body.bytesize)
    @at += bytes.bytesize
    bytes
  end

  # Ends this side.
  def close = write("", ended: true)

  def reset(error = :cancel) = client.frame(:rst_stream, id, [Http2Peer::ERRORS.index(error)].pack("N"))

  private

  def step = client.receive || raise(EOFError, "the connection ended")
end

# A server of WebSockets in this process, and clients that open them over HTTP/2. For PeltonTests.
module Http2Tunnels
  include Http2Peers
  include WebSocketPeer

  ECHO = ->(env) { Pelton::HTTP::WebSocket.accept(env) { |socket| socket.each { |message| socket.write(message) } } }

  # Serves what accepts a WebSocket; other requests get their path.
  def sockets(app = ECHO, client: {}, **options)
    both = ->(env) { Pelton::HTTP::WebSocket.request?(env) ? app.call(env) : [200, {}, [env["PATH_INFO"]]] }
    serving(both, lint: false, **options) { yield http2(settings: client) }
  end

  def tunnel(client, path = "/", fields: {}, **options)
    Http2Tunnel.new(client, path, fields: fields, **options).tap { |tunnel| assert_equal 200, tunnel.status }
  end
end
