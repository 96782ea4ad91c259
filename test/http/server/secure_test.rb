# frozen_string_literal: true

require "openssl"
require "tempfile"
require_relative "../../support/certificates"
require_relative "../../support/http/peer"

# The server over TLS. The client is Ruby's OpenSSL.
class HTTPSecureTest < PeltonTest
  include HttpPeer

  def serving_securely(app, tls: {}, **options, &block)
    Pelton.run do
      @server = Pelton::HTTP::Server.new(app, **options)
      @port = @server.listen("ssl://127.0.0.1:0", tls: Certificates.server.to_h.merge(tls)).port
      @peers = []
      block.call
    ensure
      @peers.each { |peer| peer.close unless peer.io.closed? }
      assert @server.stop(timeout: 10), @server.stats.inspect
    end
  end

  def test_the_scheme_and_the_port
    app =
      Rack::Lint.new(->(env) { [200, {}, [env.values_at("rack.url_scheme", "SERVER_PORT", "REMOTE_ADDR").join(" ")]] })
    serving_securely(app) do
      assert_equal "https 443 127.0.0.1", secure_peer.get("/").body
    end
  end

  def test_bodies_both_ways
    upload = Random.new(5).bytes(1_000_000)
    serving_securely(->(env) { [200, {}, [env["rack.input"].read]] }) do
      assert_equal upload,
        secure_peer.say("POST / HTTP/1.1\nHost: h\nContent-Length: #{upload.bytesize}\n\n", upload).response.body
    end
  end

  # The last response is followed by TLS's own goodbye: otherwise reading to the end raises.
  def test_the_end_is_said
    serving_securely(->(_env) { [200, {}, ["x" * 500_000]] }) do
      connection = secure_peer
      connection.get("/", "Connection: close\n")

      assert_predicate connection, :ended?
      connection = secure_peer.say("GET / HTTP/1.0\n\n")

      assert_operator connection.io.read.bytesize, :>, 500_000
    end
  end

  def test_files
    Tempfile.create("pelton") do |file|
      file.write(content = "0123456789" * 100_000)
      file.flush
      serving_securely(Rack::Files.new(File.dirname(file.path))) do
        assert_equal content, secure_peer.get("/#{File.basename(file.path)}").body
      end
    end
  end

  def test_hijacking_gives_an_io
    app = lambda do |env|
      io = env["rack.hijack"].call
      Pelton.spawn do
        io.write("raw:", io.readpartial(100))
        io.close
      end
      [200, {}, []]
    end
    serving_securely(app) do
      assert_equal "raw:behind", secure_peer.say("GET / HTTP/1.1\nHost: h\n\n", "behind").io.read
    end
  end

  def test_a_request_without_tls
    serving_securely(HELLO) do
      [
        "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9000\r\n\r\n#{"x" * 9000}"
      ].each do |request|
        head, body = answer(request).split("\r\n\r\n", 2)

        assert_match(%r{\AHTTP/1\.1 400 Bad Request\r\n}, head)
        assert_equal body.bytesize, head[/content-length: (\d+)/, 1].to_i
        assert_match(/HTTPS/, body)
      end
      assert_equal [2, 0], server.stats.values_at(:failed_handshakes, :requests)
      assert_equal "hello", secure_peer.get("/").body
    end
  end

  def test_bytes_that_are_no_handshake
    serving_securely(HELLO) do
      refute_includes answer("FOO / HTTP/1.1\r\nHost: h\r\n\r\n"), "HTTP/1.1"
    rescue Errno::ECONNRESET # of what OpenSSL has not read
      assert_equal 0, server.stats[:requests]
    ensure
      assert_equal "hello", secure_peer.get("/").body
    end
  end

  # Whoever shakes hands slowly, or not at all, holds up nobody, and is given up.
  def test_a_flood_of_handshakes_that_do_not_end
    Pelton.run do
      @server = Pelton::HTTP::Server.new(HELLO)
      listener = @server.listen("ssl://127.0.0.1:0", tls: Certificates.server.to_h, handshake_timeout: 2)
      @port = listener.port
      @peers = []
      silent = Array.new(100) { TCPSocket.new("127.0.0.1", @port) }
      slow = TCPSocket.new("127.0.0.1", @port)
      trickle = Pelton.spawn do
        "\x16\x03\x01\x40\x00".b.ljust(10_000, "\x01").each_char { |byte| slow.write(byte) && sleep(0.005) }
      rescue SystemCallError
        :given_up
      end

      assert_equal "hello", secure_peer.get("/").body
      silent.each { |socket| assert_nil socket.read(1) }
      assert_equal :given_up, trickle.await
      assert_equal "hello", secure_peer.get("/").body
    ensure
      @peers.each(&:close)
      assert @server.stop(timeout: 10), @server.stats.inspect
    end
  end

  # Anyone on the way can end a TCP connection: a body that ends like that is not whole.
  def test_an_end_without_a_farewell_within_a_body
    read = nil
    serving_securely(->(env) { [200, {}, [read = env["rack.input"].read]] }) do
      ["Content-Length: 9\n\nabc", "Transfer-Encoding: chunked\n\n3\nabc\n"].each do |rest|
        socket = OpenSSL::SSL::SSLSocket.new(TCPSocket.new("127.0.0.1", @port)).connect
        socket.write("POST / HTTP/1.1\nHost: h\n#{rest}".gsub("\n", "\r\n"))
        socket.io.close_write
        assert_raises(OpenSSL::SSL::SSLError, EOFError, SystemCallError) { socket.readpartial(1000) }
        socket.io.close
      end
    end
    assert_nil read
  end

  def test_a_client_that_knows_no_names
    serving_securely(HELLO) do
      assert_equal "hello", secure_peer(name: nil).get("/").body # without SNI
    end
  end

  def test_the_application_sees_the_clients_certificate
    app = ->(env) { [200, {}, [env["async.callback"].tls.then { |tls| "#{tls.server_name} #{tls.certificate}" }]] }
    me = Certificates.for("me")
    serving_securely(app, tls: {verify: true, ca_file: Certificates.authority}) do
      context = OpenSSL::SSL::SSLContext.new.tap { |one| one.add_certificate(me.x509, me.private_key) }

      assert_equal "shop.example #{me.certificate}", secure_peer(context: context, name: "shop.example").get("/").body
    end
    serving(->(env) { [200, {}, [env["async.callback"].tls.inspect]] }) { assert_equal "nil", peer.get("/").body }
  end

  def test_a_protocol_is_agreed_upon
    context = OpenSSL::SSL::SSLContext.new.tap { |one| one.alpn_protocols = %w[h2 http/1.1] }
    serving_securely(HELLO) do
      assert_equal Pelton::HTTP.http2? ? "h2" : "http/1.1", secure_peer(context: context).io.alpn_protocol
    end
    serving_securely(HELLO, max_streams: 0) { assert_equal "http/1.1", secure_peer(context: context).io.alpn_protocol }
    serving_securely(HELLO, tls: {alpn: ["x"]}) { assert_nil secure_peer(context: context).io.alpn_protocol }
  end

  # In pieces: the system cannot send it itself.
  def test_a_file_is_sent_without_asking_its_body_for_parts
    Tempfile.create do |file|
      content = Random.bytes(300_001)
      file.tap { file.binmode.write(content) }.flush
      body = Object.new
      body.define_singleton_method(:to_path) { file.path }
      body.define_singleton_method(:each) { raise "the body was asked" }
      app = ->(_env) { [200, {"content-length" => "300001"}, body] }
      serving_securely(app) { 2.times { assert_equal content, secure_peer.get("/").body } }
    end
  end

  def test_ssl_addresses_need_a_certificate
    assert_raises(ArgumentError) { Pelton::HTTP::Server.new(HELLO).listen("ssl://127.0.0.1:0") }
  end
end
