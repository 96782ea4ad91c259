# frozen_string_literal: true

require_relative "../../support/http/peer"

# Bytes that two servers could read differently: refused, and never a second request. The malformed messages themselves
# are in test/core/http1/test_http1_parser_malformed.c; here is what the server does about them.
class HTTPFramingTest < PeltonTest
  include HttpPeer

  SECOND = "GET /second HTTP/1.1\r\nHost: h\r\n\r\n"
  HEAD = "POST / HTTP/1.1\r\nHost: h\r\n"

  # name => [status, bytes]: one for each kind of fault and each status
  REFUSED = {
    "length and coding (puma CVE-2020-11076)" => [400,
      "#{HEAD}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    "coding gzip, chunked" => [501, "#{HEAD}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"],
    "empty length (puma CVE-2023-40175)" => [400, "#{HEAD}Content-Length:\r\n\r\n"],
    "bare line feeds (puma CVE-2021-41136)" => [400, "GET / HTTP/1.1\nHost: h\n\n"],
    "NUL in a header" => [400, "GET / HTTP/1.1\r\nHost: h\r\nA: \0\r\n\r\n"],
    "method that is no token" => [400, "G(T / HTTP/1.1\r\nHost: h\r\n\r\n"],
    "target of no form" => [400, "GET x HTTP/1.1\r\nHost: h\r\n\r\n"],
    "PROXY protocol (puma CVE-2026-47736)" => [400,
      "PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n"],
    "many empty lines" => [400, "\r\n" * 50],
    "no host" => [400, "GET / HTTP/1.1\r\n\r\n"],
    "no version" => [400, "GET /\r\nHost: h\r\n\r\n"],
    "another version" => [505, "GET / HTTP/2.0\r\nHost: h\r\n\r\n"],
    "no HTTP" => [400, "\x16\x03\x01\x02\x00\x01\x00\r\n"],
    "expectation" => [417, "GET / HTTP/1.1\r\nHost: h\r\nExpect: x\r\n\r\n"],
    "long target" => [414, "GET /#{"x" * 9000} HTTP/1.1\r\nHost: h\r\n\r\n"],
    "long headers" => [431, "GET / HTTP/1.1\r\nHost: h\r\nA: #{"x" * 70_000}\r\n\r\n"],
    "many headers" => [431, "GET / HTTP/1.1\r\nHost: h\r\n#{"A: b\r\n" * 101}\r\n"],
    "a head that is cut off" => [400, "GET / HTTP/1.1\r\nHos"]
  }.freeze

  REFUSED.each do |name, (status, bytes)|
    define_method("test_#{name.gsub(/\W+/, "_")}") do
      serving(->(_env) { raise "must not be called" }) do
        connection = peer
        connection.io.write(bytes.b)
        connection.io.write(SECOND) unless name.include?("cut off")
        connection.io.close_write
        response = connection.response

        assert_equal status, response.status
        assert_equal "close", response["connection"]
        assert_predicate connection, :ended?
        assert_equal 1, server.stats[:refused]
        assert_equal 0, server.stats[:requests]
      end
      assert_empty reported
    end
  end

  CHUNKED = "#{HEAD}Transfer-Encoding: chunked\r\n\r\n"

  # As far as the head all is right: the application is called, and is told where it reads the body.
  MALFORMED_BODIES = {
    "chunk of -1" => "-1\r\n",
    "long extension (puma CVE-2024-21647)" => "5;#{"a" * 5000}\r\nhello\r\n0\r\n\r\n",
    "extensions that are long together (go CVE-2023-39326)" => "1;a=b\r\nx\r\n" * 4200 + "0\r\n\r\n",
    "chunk longer than its size" => "5\r\nhello, world\r\n0\r\n\r\n",
    "chunk that is cut off" => "5\r\nhel",
    "no last chunk" => "5\r\nhello\r\n",
    "trailer Content-Length (puma CVE-2023-40175)" => "0\r\nContent-Length: 5\r\n\r\n",
    "malformed trailer" => "0\r\nA : b\r\n\r\n",
    "many trailers" => "0\r\n#{"A: b\r\n" * 101}\r\n"
  }.freeze

  # They are kept apart, whatever they are called.
  def test_trailers_change_nothing
    names = %w[Connection Expect Upgrade Cookie Authorization Content-Type X-Forwarded-For Trailer Te Keep-Alive]
    envs = []
    app = lambda do |env|
      body = env["rack.input"].read
      envs << env.dup
      [200, {}, [body]]
    end
    serving(app) do
      connection = peer
      connection.io.write(CHUNKED,
        "5 ; a = \"b\";c\r\nhello\r\n0\r\n#{names.map { |name| "#{name}: close\r\n" }.join}\r\n")

      response = connection.response
      assert_equal "hello", response.body
      assert_nil response["connection"]
      assert_equal "hello", connection.say("GET / HTTP/1.1\nHost: h\nContent-Length: 5\n\n", "hello").response.body
    end
    assert_equal names.map(&:downcase).to_h { |name| [name, "close"] }, envs.first["pelton.trailers"]
    assert_empty envs.first.keys.grep(/\A(HTTP_(?!HOST|TRANSFER_ENCODING|VERSION)|CONTENT_TYPE)/)
  end

  MALFORMED_BODIES.each do |name, bytes|
    define_method("test_#{name.gsub(/\W+/, "_")}") do
      read = nil
      serving(->(env) { [200, {}, [read = env["rack.input"].read]] }) do
        connection = peer
        connection.io.write(CHUNKED, bytes)
        connection.io.write(SECOND) unless name.match?(/cut off|no last/)
        connection.io.close_write
        response = connection.response

        assert_equal (name == "many trailers") ? 431 : 400, response.status
        assert_equal "close", response["connection"]
        assert_predicate connection, :ended?
        assert_equal [1, 1, 0], server.stats.values_at(:requests, :refused, :errors)
      end
      assert_nil read
      assert_empty reported
    end
  end

  # What the application makes of it itself is its own answer, and yet the connection's last.
  def test_a_malformed_body_that_the_application_forgives
    app = lambda do |env|
      env["rack.input"].read
    rescue Pelton::ProtocolError => error
      [422, {}, [error.message]]
    end
    serving(app) do
      connection = peer
      connection.io.write(CHUNKED, "nonsense\r\n", SECOND)
      response = connection.response

      assert_equal 422, response.status
      assert_equal "a chunk is malformed: the peer broke the protocol", response.body
      assert_equal "close", response["connection"]
      assert_predicate connection, :ended?
      assert_equal 1, server.stats[:requests]
    end
  end

  def test_a_malformed_body_that_nobody_reads
    serving(HELLO) do
      connection = peer
      connection.io.write(CHUNKED, "nonsense\r\n", SECOND)

      assert_equal "hello", connection.response.body
      assert_predicate connection, :ended?
      assert_equal 1, server.stats[:requests]
    end
  end

  def test_zeros_before_a_length_are_no_octal_number
    serving(->(env) { [200, {}, [env["rack.input"].read]] }) do
      assert_equal "0123456789", peer.say("#{HEAD}Content-Length: 010\n\n", "0123456789").response.body
    end
  end

  # The second request stands where the first one's body ends, and nowhere else.
  def test_a_body_is_no_request
    paths = []
    app = lambda do |env|
      paths << env["PATH_INFO"]
      [200, {}, []]
    end
    serving(app) do
      connection = peer
      connection.io.write(
        "#{HEAD}Content-Length: #{SECOND.bytesize}\r\n\r\n#{SECOND}GET /third HTTP/1.1\r\nHost: h\r\n\r\n"
      )
      2.times { connection.response }
    end
    assert_equal %w[/ /third], paths
  end

  def test_a_line_before_a_request_is_passed_over_once
    serving(HELLO) do
      assert_equal 200, peer.say("\nGET / HTTP/1.1\nHost: h\n\n").response.status
      assert_equal 400, peer.say("\n\nGET / HTTP/1.1\nHost: h\n\n").response.status
    end
  end

  def test_connect_is_the_applications_business
    serving(->(env) { [405, {"allow" => "GET"}, [env["REQUEST_METHOD"]]] }, lint: false) do
      assert_equal "CONNECT", peer.say("CONNECT a:80 HTTP/1.1\nHost: a:80\n\n").response.body
    end
  end

  # A proxy in front takes any 2xx for a tunnel, and passes on what it would not let in as a request.
  def test_what_follows_connect_is_no_request
    paths = []
    serving(->(env) { [200, {}, [paths.push(env["REQUEST_METHOD"]).last]] }, lint: false) do
      connection = peer.say("CONNECT a:80 HTTP/1.1\nHost: a:80\n\nGET /inner HTTP/1.1\nHost: h\n\n")

      assert_equal "close", connection.response["connection"]
      assert_predicate connection, :ended?
    end
    assert_equal ["CONNECT"], paths
  end

  # Whatever comes: the server answers something or closes, and goes on.
  def test_noise
    random = Random.new(42)
    pieces = ["GET", " ", "/", "HTTP/1.1", "\r\n", "\r", "\n", "Host: h", ":", "Content-Length: 3",
      "Transfer-Encoding: chunked", "0",
      "\0", "abc", "\xff".b, "POST / HTTP/1.1\r\nHost: h\r\n"]
    serving(HELLO) do
      200.times do
        connection = peer
        connection.io.write(Array.new(random.rand(1..12)) { pieces.sample(random: random).b }.join)
        connection.io.close_write
        connection.io.read
        connection.close
      end

      assert_equal 200, peer.get("/").status
    end
  end
end
