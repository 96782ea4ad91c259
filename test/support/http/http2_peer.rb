# frozen_string_literal: true

require "timeout"
require_relative "hpack"
require_relative "peer"

# A client of HTTP/2 that writes each frame by hand, and sees each that comes.
class Http2Peer
  PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
  TYPES = %i[data headers priority rst_stream settings push_promise ping goaway window_update continuation].freeze
  ERRORS = %i[no_error protocol_error internal_error flow_control_error settings_timeout stream_closed frame_size_error
    refused_stream cancel
    compression_error connect_error enhance_your_calm inadequate_security http_1_1_required].freeze
  END_STREAM = ACK = 1
  END_HEADERS = 4
  PADDED = 8

  Frame = Struct.new(:type, :flags, :stream, :payload) do
    # The error of a RST_STREAM or a GOAWAY.
    def error = ERRORS.fetch(payload.unpack1((type == :goaway) ? "x4N" : "N"))

    def last_stream = payload.unpack1("N")

    def end_stream? = flags & END_STREAM == END_STREAM && %i[data headers].include?(type)
  end

  Response = Struct.new(:status, :headers, :body, :trailers, :hints, :error)

  def self.frame(type, stream = 0, payload = "", flags: 0)
    number = type.is_a?(Integer) ? type : TYPES.index(type)
    [payload.bytesize].pack("N").byteslice(1, 3) + [number, flags, stream].pack("CCN") + payload.b
  end

  def self.settings(values = {}) = frame(:settings, 0, values.map { |id, value| [id, value].pack("nN") }.join)

  def self.request(stream, path = "/", method: "GET", scheme: "http", authority: "localhost", fields: {}, ended: true)
    pseudo = {":method" => method, ":scheme" => scheme, ":path" => path, ":authority" => authority}.compact
    frame(:headers, stream, Hpack.block([*pseudo, *fields]), flags: END_HEADERS | (ended ? END_STREAM : 0))
  end

  attr_reader :io

  # The last stream that the server answers; nil until it says so.
  attr_reader :last_stream

  def initialize(io, settings: {})
    @io = io
    @hpack = Hpack.new
    @streams = Hash.new { |all, id| all[id] = Response.new(nil, {}, +"".b, nil, []) }
    @ended = {}
    @next = -1
    write(PREFACE + self.class.settings(settings)) if settings
  end

  def write(bytes)
    @io.write(bytes)
    self
  end

  def frame(...) = write(self.class.frame(...))

  # Begins a request; returns its stream.
  def request(path = "/", body: nil, **options)
    write(self.class.request(@next += 2, path, ended: body.nil?, **options))
    frame(:data, @next, body, flags: END_STREAM) if body
    @next
  end

  def get(path = "/", **options) = response(request(path, **options))

  # The next frame, or nil at the end.
  def receive
    head = @io.read(9) or return
    length = ("\0" + head.byteslice(0, 3)).unpack1("N")
    type, flags, stream = head.unpack("x3CCN")
    frame = Frame.new(TYPES.fetch(type), flags, stream, length.zero? ? "" : @io.read(length))
    note(frame)
    frame
  rescue Errno::ECONNRESET
    nil
  end

  # The next frame of that type; the others are noted.
  def receive_until(type, stream: nil)
    while (frame = receive)
      return frame if frame.type == type && (stream.nil? || frame.stream == stream)
    end
    raise EOFError, "no #{type}"
  end

  # The whole response of a stream.
  def response(stream)
    receive || raise(EOFError, "stream #{stream} got no response") until @ended[stream]
    @streams[stream]
  end

  # What has come of a stream's response.
  def so_far(stream) = @streams[stream]

  # Whether the server has ended a stream, by its last frame or by a reset.
  def ended?(stream) = !!@ended[stream]

  # What ended the connection: the last GOAWAY's error.
  def end_of_connection
    while (frame = receive)
      error = frame.error if frame.type == :goaway
    end
    error
  end

  def open_window(stream, bytes) = frame(:window_update, stream, [bytes].pack("N"))

  def close = @io.close

  private

  def note(frame)
    stream = @streams[frame.stream]
    case frame.type
    when :headers then note_fields(stream, @hpack.read(frame.payload))
    when :data then stream.body << frame.payload
    when :rst_stream then stream.error = frame.error
    when :goaway then @last_stream = frame.last_stream
    when :settings then frame(:settings, flags: ACK) if frame.flags.zero?
    when :ping then frame(:ping, 0, frame.payload, flags: ACK) if frame.flags.zero?
    end
    @ended[frame.stream] = true if frame.end_stream? || frame.type == :rst_stream
  end

  def note_fields(stream, fields)
    fields = fields.to_h
    if stream.status
      stream.trailers = fields
    elsif fields[":status"].start_with?("1")
      stream.hints << fields
    else
      stream.status = fields.delete(":status").to_i
      stream.headers = fields
    end
  end
end

# A server in this process, and clients of HTTP/2. For PeltonTests.
module Http2Peers
  include HttpPeer

  def setup
    super
    skip "Pelton is built without HTTP/2" unless Pelton::HTTP.http2?
  end

  # nil settings: not even the preface is sent.
  def http2(settings: {})
    Http2Peer.new(TCPSocket.new("127.0.0.1", @port), settings: settings).tap { |peer| @peers << peer }
  end
end
