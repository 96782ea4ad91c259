# frozen_string_literal: true

require "openssl"
require "tempfile"
require_relative "../support/certificates"
require_relative "../support/http/peer"

# Clients and applications act at random, at once, with TLS and without. At the end no connection or descriptor is left,
# and each complete response was the right one. SEED=1 CLIENTS=500
class HTTPSoakTest < PeltonTest
  include HttpPeer

  self.deadline = 120

  CLIENTS = Integer(ENV.fetch("CLIENTS", "1000"))
  LARGE = ("0123456789abcdef" * 20_000).freeze # 320,000 bytes

  def app(random)
    lambda do |env|
      env["rack.response_finished"] << ->(*) { @finished += 1 }
      @begun += 1
      headers = {"x-path" => env["PATH_INFO"]}
      case env["PATH_INFO"][/\D+/].delete("/")
      when "plain" then [200, headers, [env["PATH_INFO"]]]
      when "wait" then sleep(random.rand / 100) && [200, headers, [env["PATH_INFO"]]]
      when "raise" then raise "on purpose"
      when "large" then [200, headers, [LARGE]]
      when "file" then [200, headers.merge("content-length" => LARGE.bytesize.to_s), File.open(@file.path)]
      when "short" then [200, headers.merge("content-length" => "9"),
        proc { |stream| Pelton.spawn { stream.write("short") && stream.close } }]
      when "parts"
        [200, headers, Enumerator.new { |parts| 10.times { (parts << LARGE[0, 32_000]) && sleep(0.001) } }]
      when "stream" then [200, headers, proc { |stream| stream_to(stream, random) }]
      when "echo" then [200, headers, [env["rack.input"].read]]
      when "ignore" then [200, headers, ["ignored"]]
      when "later"
        Pelton.add_timer(random.rand / 100) { env["async.callback"].call([200, headers, [env["PATH_INFO"]]]) }
        throw :async
      when "hijack" then answer_alone(env["rack.hijack"].call, env["PATH_INFO"])
      end
    end
  end

  def answer_alone(io, path)
    io.write("HTTP/1.1 200 OK\r\nx-path: #{path}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
  rescue SystemCallError
    nil # the client left
  ensure
    io.close
  end

  def stream_to(stream, random)
    Pelton.spawn do
      5.times do
        stream.write(LARGE[0, 10_000])
        sleep(random.rand / 200)
      end
      stream.close
    rescue Pelton::ClosedError
      stream.close
    end
  end

  WORK = %w[plain plain wait wait raise large file short parts stream echo ignore later later hijack].freeze

  # One connection: several requests, at once or one after the other; the client may leave at any time, or read slowly.
  def client(number, random)
    connection = (random.rand < 0.3) ? secure_peer(@secure_port) : peer
    kinds = Array.new(random.rand(1..5)) { WORK.sample(random: random) }
    paths = kinds.each_with_index.map { |kind, i| "/#{kind}#{number}#{i}" }
    requests = paths.map { |path| request(path, random) }
    return leave(connection, requests.join[0, random.rand(requests.join.bytesize + 1)], random) if random.rand < 0.4
    connection.io.write(requests.join)
    paths.each do |path|
      sleep(random.rand / 50) if random.rand < 0.3
      check(path, connection.response)
      break if path.match?(/hijack|short/)
    end
  rescue EOFError, Errno::ECONNRESET, Errno::EPIPE, OpenSSL::SSL::SSLError
    flunk "a client was left alone" unless kinds&.intersect?(%w[hijack raise short])
  ensure
    connection&.close unless connection&.io&.closed?
  end

  # A client that goes away in the middle of its TLS handshake, or speaks another protocol.
  def stranger(random)
    TCPSocket.open("127.0.0.1", @secure_port) do |socket|
      socket.write(
        ["", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"].sample(random: random).b + random.bytes(random.rand(200))
      )
      sleep(random.rand / 50)
    end
  rescue SystemCallError
    nil
  end

  def request(path, random)
    head = "POST #{path} HTTP/1.1\r\nHost: h\r\n"
    body = path[1..] * random.rand(1..2000)
    return "#{head}\r\n" unless path.match?(/echo|ignore/)
    return "#{head}Content-Length: #{body.bytesize}\r\n\r\n#{body}" if random.rand < 0.5
    "#{head}Transfer-Encoding: chunked\r\n\r\n#{body.bytesize.to_s(16)}\r\n#{body}\r\n0\r\n\r\n"
  end

  def leave(connection, bytes, random)
    connection.io.write(bytes)
    sleep(random.rand / 50)
    connection.io.to_io.setsockopt(Socket::SOL_SOCKET, Socket::SO_LINGER, [1, 0].pack("ii")) if random.rand < 0.5
    connection.io.read_nonblock(100, exception: false)
  rescue OpenSSL::SSL::SSLError
    nil
  end

  def check(path, response)
    return assert_nil response.body&.[](5) if path.include?("short")
    @answered += 1
    return assert_equal(500, response.status) if path.include?("raise")

    assert_equal 200, response.status
    assert_equal path, response["x-path"]
    assert_equal path, response.body if path.match?(/plain|wait|later/)
    assert_equal LARGE, response.body if path.match?(/large|file/)
    assert_equal "", response.body.gsub(path[1..], "") if path.include?("echo")
  end

  def descriptors = Dir.children("/proc/self/fd").size

  def test_anything_at_random
    random = Random.new(Integer(ENV.fetch("SEED", "1")))
    @file = Tempfile.create("pelton").tap { |file| file.write(LARGE) && file.flush }
    @begun = @finished = @answered = 0
    serving(app(random), lint: false, concurrency: 40) do
      @secure_port = server.listen("ssl://127.0.0.1:0", tls: Certificates.server.to_h).port
      before = descriptors
      Pelton.map(Array.new(CLIENTS), concurrency: 60) do
        own = Random.new(random.rand(1 << 30))
        (own.rand < 0.1) ? stranger(own) : client(@begun, own)
      end
      sleep 0.01 until server.stats.values_at(:connections, :running, :waiting) == [0, 0, 0] && descriptors <= before
    end

    assert_operator @answered, :>, CLIENTS / 2
    assert_equal ["on purpose", SHORT], reported.map(&:message).uniq.sort - LEFT
  ensure
    @file.close
    File.unlink(@file)
  end

  # The client takes longer than write_timeout in all, and the server's queue stays above its limit the whole time.
  def test_a_client_that_reads_slowly_is_waited_for
    size = 60_000_000
    body = proc { |stream| stream.write("x" * size) && stream.close }
    serving(->(_env) { [200, {"content-length" => size.to_s}, body] }, lint: false, write_timeout: 2 * SLOW) do
      connection = peer.say("GET / HTTP/1.1\nHost: h\n\n")
      read = 0
      enough = now + 3 * SLOW
      (read += connection.io.readpartial(100_000).bytesize) && sleep(0.01) while now < enough
      read += connection.io.readpartial(1_000_000).bytesize while read < size

      assert_operator read, :>=, size
    end
    assert_empty reported
  end

  SHORT = "the body is shorter than its content-length"

  # The errors that an application gets when its client leaves before the application has written.
  LEFT = ["this exchange is over: its response was sent, or the client is gone", "the client is gone"].freeze
end
