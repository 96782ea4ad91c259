# frozen_string_literal: true

require_relative "http2_peer"
require_relative "scripted_server"

# A server of HTTP/2 for tests of clients, which writes each frame by hand. The block is called for each connection,
# when its preface has come, with the peer and the connection's number.
class Http2Script < ScriptedServer
  # A connection, from the server's side.
  class Peer < Http2Peer
    Request = Struct.new(:stream, :fields, :body) do
      def [](name) = fields.assoc(name)&.last

      def path = self[":path"]
    end

    PREFACE_LENGTH = PREFACE.bytesize

    # @param settings [Hash, nil] nil: they are not sent, nor is anything that the block does not send
    def initialize(io, settings: {})
      super(io, settings: nil)
      @silent = settings.nil?
      @begun = {}
      @complete = []
      raise EOFError, "no preface" unless io.read(PREFACE_LENGTH) == PREFACE
      write(self.class.settings(settings)) if settings
    end

    # The next request that is complete, or nil at the connection's end.
    def request
      while @complete.empty?
        receive or return
      end
      @complete.shift
    end

    # The next head.
    def begun
      count = @begun.size
      receive or return while @begun.size == count
      @begun.values.last
    end

    def head(stream, fields = {}, status: 200, ended: false)
      flags = END_HEADERS | (ended ? END_STREAM : 0)
      frame(:headers, stream, Hpack.block([[":status", status.to_s], *fields]), flags: flags)
    end

    def data(stream, bytes, ended: true) = frame(:data, stream, bytes, flags: ended ? END_STREAM : 0)

    def respond(stream, body = "", fields = {}, status: 200) = head(stream, fields, status: status).data(stream, body)

    def reset(stream, error) = frame(:rst_stream, stream, [ERRORS.index(error)].pack("N"))

    def goaway(last, error = :no_error) = frame(:goaway, 0, [last, ERRORS.index(error)].pack("NN"))

    # Opens the connection's window, and a stream's.
    def open_windows(stream, bytes) = open_window(0, bytes).open_window(stream, bytes)

    private

    def note(frame)
      case frame.type
      when :headers
        request = @begun[frame.stream] ||= Request.new(frame.stream, @hpack.read(frame.payload), +"".b)
      when :data then (request = @begun.fetch(frame.stream)).body << frame.payload
      else return (super unless @silent)
      end
      @complete << request if frame.end_stream?
    end
  end

  # What the blocks returned.
  attr_reader :results

  def initialize(settings: {}, tls: nil, &script)
    @settings, @script = settings, script
    @results = Queue.new
    super(tls)
  end

  private

  def serve(socket)
    socket.setsockopt(:TCP, :NODELAY, true)
    super
  end

  def converse(socket, number)
    @results << @script.call(Peer.new(socket, settings: @settings), number)
  end

  def broken(error) = @results << error
end

# For PeltonTests: servers that are closed when the test ends, and clients that know that they speak HTTP/2.
module Http2Scripts
  def setup
    super
    skip "Pelton is built without HTTP/2" unless Pelton::HTTP.http2?
  end

  def teardown
    @scripts&.each(&:close)
    super
  end

  def script(settings: {}, tls: nil, &block)
    Http2Script.new(settings: settings, tls: tls, &block).tap { |server| (@scripts ||= []) << server }
  end

  # A server whose connections answer each complete request by the block, and a client.
  def answering(settings: {}, **options)
    server = script(settings: settings) do |peer, number|
      while (request = peer.request)
        yield peer, request, number
      end
    end
    [client_of(server, **options), server]
  end

  def client_of(server, **options) = Pelton::HTTP::Client.new(server.url, http2: :prior_knowledge, **options)
end
