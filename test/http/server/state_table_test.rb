# frozen_string_literal: true

require "timeout"
require_relative "../../support/http/http2_peer"

# Random clients and applications test the state table of HTTP connections (docs/internals/architecture.md): an illegal
# step ends the process. A seed determines what they decide, and is in each failure; PELTON_SEED=... runs that program
# again and again.
class HTTPStateTableTest < PeltonTest
  include HttpPeer

  SECONDS = Float(ENV.fetch("PELTON_FUZZ_SECONDS", "1.5"))
  self.deadline = 60 + 2 * SECONDS

  BODIES = ["", "content-length: 5\r\n", "content-length: 90000\r\n", "transfer-encoding: chunked\r\n",
    "expect: 100-continue\r\ncontent-length: 5\r\n"].freeze
  BYTES = ["", "12345", "x" * 90_000, "5\r\n12345\r\n0\r\n\r\n", ""].freeze
  BROKEN = ["GET\r\n\r\n", "POST / HTTP/1.1\r\nhost: h\r\ncontent-length: x\r\n\r\n", "\0\1\2",
    "GET / HTTP/1.1\r\n\r\n"].freeze
  LIMITS = {concurrency: 2, queue: 2, header_timeout: 0.02, idle_timeout: 0.03, request_timeout: 0.02,
            write_timeout: 0.02,
            max_requests: 6, cache: 100_000}.freeze

  def test_random_connections
    count = 0
    limit = now + SECONDS
    while now < limit
      @seed = Integer(ENV["PELTON_SEED"] || Random.new_seed % 1_000_000_000)
      @random = Random.new(@seed)
      program
      count += 1
    end

    assert_operator count, :>, 0
  end

  private

  def program
    @begun = @finished = 0
    @problems = []
    @clients = []
    options = LIMITS.select { @random.rand < 0.5 }
    serving(method(:answer_somehow), lint: false, **options) do
      tasks = Array.new(1 + @random.rand(8)) { |number| Pelton.spawn { client(number) } }
      @random.rand(4).zero? ? sleep(@random.rand * 0.005) : tasks.each(&:await)
      @server.stop(timeout: 0.05) if @random.rand(3).zero?
      tasks.each(&:await)
      @clients.each(&:close)
      sleep 0.001 until @server.stats[:connections].zero?
      200.times { (@begun == @finished) ? break : sleep(0.005) } # the last callbacks are jobs

      assert_equal [0, 0], @server.stats.values_at(:running, :waiting), again
    end

    assert_equal @begun, @finished, again
    assert_empty @problems, again
    assert_empty reported.reject { |error|
      error.is_a?(Pelton::Error) || error.message.match?(/\A(the application's own|within the body)\z/)
    },
      again
    reported.clear
  end

  def again = "run it again with PELTON_SEED=#{@seed}"

  # Each response names its request: they come in the requests' order, once each.
  def client(number)
    io = TCPSocket.new("127.0.0.1", @port)
    @clients << io
    reader = Pelton.spawn { read(io, number) }
    Timeout.timeout(0.1) do
      if Pelton::HTTP.http2? && @random.rand(2).zero?
        write_http2(io, number)
      else
        (1 + @random.rand(6)).times { |request| write(io, number, request) }
      end
      reader.await unless @random.rand(4).zero?
    end
  rescue SystemCallError, IOError, Timeout::Error
    # the server has closed first; or both wait for each other
  ensure
    reader&.cancel # before Ruby 3.2, closing the socket does not wake it
    io&.setsockopt(:SOCKET, :LINGER, [1, 0].pack("ii")) if @random.rand(3).zero?
    io&.close
  end

  # Requests that are sent in one go, or piece by piece, that have bodies or promise them, and are cancelled.
  def write_http2(io, number)
    io.write(Http2Peer::PREFACE + Http2Peer.settings(@random.rand(2).zero? ? {} : {4 => @random.rand(20_000)}))
    (1 + @random.rand(8)).times do |request|
      write_in_two(io, http2_frames(2 * request + 1, "/#{number}/#{request}/#{@random.rand(9)}"))
    end
  end

  def http2_frames(stream, path)
    ended = @random.rand(2).zero?
    bytes = Http2Peer.request(stream, path, method: ended ? "GET" : "POST", ended: ended)
    @random.rand(4).times { bytes += Http2Peer.frame(:data, stream, "x" * @random.rand(16_000)) } unless ended
    bytes += Http2Peer.frame(:data, stream, "", flags: Http2Peer::END_STREAM) if !ended && @random.rand(3).positive?
    if @random.rand(3).zero?
      bytes += Http2Peer.frame(:window_update, @random.rand(2) * stream, [1 + @random.rand(100_000)].pack("N"))
    end
    bytes += Http2Peer.frame(:rst_stream, stream, "\0\0\0\x08") if @random.rand(4).zero?
    bytes += Http2Peer.frame(:ping, 0, "12345678") if @random.rand(6).zero?
    bytes += Http2Peer.frame(:goaway, 0, "\0" * 8) if @random.rand(30).zero?
    (@random.rand(20).zero? ? Http2Peer.request(stream, "/ ") : "") + bytes
  end

  def write(io, number, request)
    kind = @random.rand(BODIES.size)
    bytes = BROKEN.sample(random: @random) if @random.rand(12).zero?
    bytes ||= "#{@random.rand(3).zero? ? "GET" : "POST"} /#{number}/#{request}/#{@random.rand(10)} " \
      "HTTP/1.#{@random.rand(8).zero? ? 0 : 1}\r\nhost: h\r\n#{BODIES[kind]}\r\n#{BYTES[kind]}"
    bytes = bytes[0, @random.rand(bytes.size + 1)] if @random.rand(10).zero?
    write_in_two(io, bytes)
    io.close_write if @random.rand(10).zero?
  end

  def write_in_two(io, bytes)
    cut = @random.rand(bytes.bytesize + 1)
    io.write(bytes.byteslice(0, cut))
    sleep(@random.rand * 0.004) if @random.rand(3).zero?
    io.write(bytes.byteslice(cut..))
  end

  def read(io, number)
    last = -1
    text = +""
    text << io.readpartial(16_384) while @random.rand(40).positive?
  rescue SystemCallError, IOError
    # its end, or the client's own close
  ensure
    text.scan(/\br(\d+)-(\d+)-begins/) do |client, request|
      unless Integer(client) == number && Integer(request) > last
        @problems << "#{client}/#{request} came after #{number}/#{last}"
      end
      last = Integer(request)
    end
  end

  def answer_somehow(env)
    _, client, request, kind = env["PATH_INFO"].split("/")
    unless kind == "9" # whose connection is given away: it has no end
      @begun += 1
      env["rack.response_finished"] << ->(*) { @finished += 1 }
    end
    response = [200, {"x-request" => "r#{client}-#{request}-begins"}, ["hello"]]
    case Integer(kind)
    when 1 then response[1]["cache-control"] = "public, max-age=60"
    when 2 then env["rack.input"].read
    when 3 then sleep(@random.rand * 0.03)
    when 4 then raise "the application's own"
    when 5 then response[2] = ["x" * 400_000]
    when 6 then response[2] = ->(stream) { 3.times { stream.write("part") && sleep(0.001) } && stream.close }
    when 7 then response[2] = Enumerator.new { |parts| 2.times { parts << "part" } && raise("within the body") }
    when 8
      Pelton.spawn(detached: true) { sleep(@random.rand * 0.03) && env["async.callback"].call(response) }
      return [-1, {}, []]
    when 9 then env["rack.hijack"].call.close
    end
    response
  end
end
