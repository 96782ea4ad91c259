# frozen_string_literal: true

require "open3"
require "tempfile"
require_relative "test_helper"
require_relative "support/certificates"
require "pelton"

# The TLS interface for users. stream_tls_test.rb tests the behaviour of streams under TLS.
class TLSTest < PeltonTest
  SERVER = Pelton::TLS::Context.new(**Certificates.server.to_h)
  TRUST = Pelton::TLS::Context.new(ca_file: Certificates.authority)

  def test_connect_and_listen
    with_echo do |port|
      stream = Pelton.connect("localhost", port, tls: TRUST)
      stream.write("hello\n")

      assert_equal "hello\n", stream.gets
      assert_equal "localhost", stream.tls.server_name
      assert stream.tls.verified
      stream.close
      assert_nil stream.tls
    end
  end

  def test_tls_info_has_the_result_of_the_handshake
    server = Pelton::TLS::Context.new(**Certificates.server.to_h, alpn: %w[http/1.1 other])
    client = Pelton::TLS::Context.new(ca_file: Certificates.authority, alpn: %w[h2 http/1.1])
    with_echo(server) do |port|
      info = Pelton.connect("127.0.0.1", port, tls: client).tls

      assert_equal "TLSv1.3", info.protocol
      assert_equal "http/1.1", info.alpn
      assert_equal false, info.resumed
      assert_match(/AES|CHACHA/, info.cipher)
      assert_operator info.cipher_bits, :>=, 128
      assert_equal Certificates.server.certificate, info.certificate
      assert_equal Certificates.server.certificate, info.chain
    end
  end

  def test_an_untrusted_server_is_refused
    with_echo do |port|
      error = assert_raises(Pelton::VerificationError) { Pelton.connect("localhost", port, tls: true) }

      assert_kind_of Pelton::TLSError, error
      assert_match(/localhost is not trusted.*ca_file:/, error.message)
      refute error.retriable?
    end
  end

  # The message does not suggest ca_file: here: trusting the authority would not help.
  def test_an_expired_certificate_is_refused
    with_echo(Pelton::TLS::Context.new(**Certificates.for("localhost", valid: -3600..-60).to_h)) do |port|
      error = assert_raises(Pelton::VerificationError) { Pelton.connect("localhost", port, tls: TRUST) }

      assert_match(/localhost is not trusted: certificate has expired\z/, error.message)
    end
  end

  def test_a_server_with_another_name_is_refused
    with_echo(Pelton::TLS::Context.new(**Certificates.for("other.test").to_h)) do |port|
      error = assert_raises(Pelton::VerificationError) { Pelton.connect("localhost", port, tls: TRUST) }
      assert_match(/not for localhost/, error.message)
      stream = Pelton.connect("localhost", port, tls: {context: TRUST, verify: false})

      refute stream.tls.verified
    end
  end

  def test_a_client_must_name_its_server
    Pelton.run do
      stream, other = Pelton::Stream.pair
      assert_raises(ArgumentError) { stream.start_tls }
      assert_raises(ArgumentError) { stream.start_tls(SERVER, server: true, verify: true) }
      assert_raises(ArgumentError) { stream.start_tls(TRUST, server_name: "x", ca_file: "y") }
      stream.write("still plain\n")

      assert_equal "still plain\n", other.gets
    end
  end

  def test_a_handshake_times_out
    Pelton.run do
      stream, = Pelton::Stream.pair
      assert_raises(Pelton::TimeoutError) { stream.start_tls(TRUST, server_name: "x", timeout: 0.02) }
      assert_predicate stream, :closed?
      stream, = Pelton::Stream.pair
      failure = nil
      stream.start_tls(TRUST, server_name: "x", timeout: 0.02) { flunk }.errback { |error| failure = error }
      sleep 0.001 until stream.closed?
      Pelton::Reactor.current.yield

      assert_kind_of Pelton::TimeoutError, failure
    end
  end

  def test_a_peer_that_does_not_use_tls
    Pelton.run do
      stream, other = Pelton::Stream.pair
      other.write("220 mail.example.com ESMTP\r\n")
      error = assert_raises(Pelton::TLSError) { stream.start_tls(TRUST, server_name: "x") }

      assert_match(/does not speak TLS/, error.message)
      assert_predicate stream, :closed?
    end
  end

  def test_start_tls_in_the_middle_of_a_conversation
    Pelton.run do
      stream, other = Pelton::Stream.pair
      server = Pelton.spawn do
        assert_equal "STARTTLS\r\n", other.gets
        other.write("220 go on\r\n")
        other.start_tls(SERVER, server: true)
        other.gets
      end
      stream.write("STARTTLS\r\n")
      assert_equal "220 go on\r\n", stream.gets
      stream.later.start_tls(TRUST, server_name: "localhost").await
      stream.write("secret\n")

      assert_equal "secret\n", server.await
      assert_equal "localhost", other.tls.server_name
    end
  end

  # An attacker between the two could send a command in advance. It must not be run as if it came through TLS.
  def test_plain_bytes_received_before_start_tls_are_not_read_as_plaintext_afterwards
    Pelton.run do
      stream, other = Pelton::Stream.pair
      other.write("STARTTLS\r\nDELETE everything\r\n")
      assert_equal "STARTTLS\r\n", stream.gets

      assert_raises(Pelton::TLSError) { stream.start_tls(SERVER, server: true) }
    end
  end

  def test_an_end_without_close_notify_raises
    with_pair do |client, server|
      server.write("half a mess")
      server.flush
      IO.for_fd(server.detach).close

      assert_equal "half a mess", client.readpartial(100)
      2.times { assert_raises(Pelton::TruncationError) { client.readpartial(100) } }
    end
  end

  def test_an_end_without_close_notify_is_passed_to_on_close
    with_pair do |client, server|
      got = []
      client.on_data { |bytes| got << bytes }
      client.on_close { |error| got << error.class }
      server.write("half")
      server.flush
      IO.for_fd(server.detach).close
      eventually { got.size == 2 }

      assert_equal ["half", Pelton::TruncationError], got
    end
  end

  def test_close_sends_close_notify
    with_pair do |client, server|
      server.write("all of it")
      server.close

      assert_equal "all of it", client.read
    end
  end

  # Otherwise a truncated message would pass for a complete one.
  def test_abort_sends_no_close_notify
    with_pair do |client, server|
      server.write("a part")
      server.flush
      server.abort

      assert_equal "a part", client.readpartial(100)
      assert_raises(Pelton::TruncationError) { client.readpartial(100) }
    end
  end

  def test_on_data_over_tls
    with_pair do |client, server|
      got = +""
      server.on_data { |bytes| got << bytes }
      data = Random.new(3).bytes(300_000)
      client.write(data)
      client.close
      ended = false
      server.on_close { |error| ended = [error] }
      eventually { ended }

      assert_equal [nil], ended
      assert_equal data, got
    end
  end

  def test_on_certificate_is_called_for_each_certificate
    seen = []
    with_pair(on_certificate: ->(one) { seen << [one.depth, one.trusted?, one.pem] }) do |client, _server|
      assert_equal [[1, true, Certificates.authority], [0, true, Certificates.server.certificate]], seen
      assert client.tls.verified
    end
  end

  def test_on_certificate_may_accept_wait_and_refuse
    with_echo do |port|
      accepted = Pelton.connect("localhost", port, tls: {on_certificate: ->(_) { sleep(0.001) || true }})
      accepted.write("x\n")
      assert_equal "x\n", accepted.gets
      error = assert_raises(Pelton::VerificationError) do
        Pelton.connect("localhost", port, tls: {context: TRUST, on_certificate: ->(one) { one.depth > 0 }})
      end

      assert_match(/own check/, error.message)
    end
  end

  def test_an_exception_in_on_certificate_is_raised_by_the_caller
    with_echo do |port|
      assert_raises(KeyError) { Pelton.connect("localhost", port, tls: {on_certificate: ->(_) { {}.fetch(:x) }}) }
    end
  end

  def test_on_certificate_may_close_the_stream
    Pelton.run do
      stream, other = Pelton::Stream.pair
      other.start_tls(SERVER, server: true) {}.errback {}

      assert_raises(Pelton::ClosedError) do
        stream.start_tls(TRUST, server_name: "localhost", on_certificate: ->(_) { stream.abort })
      end
    end
  end

  def test_sessions_are_resumed
    client = Pelton::TLS::Context.new(ca_file: Certificates.authority)
    with_echo do |port|
      resumed = Array.new(3) do
        stream = Pelton.connect("localhost", port, tls: client)
        stream.write("x\n")
        stream.gets # a ticket comes before it
        stream.tls.resumed.tap { stream.close }
      end

      assert_equal [false, true, true], resumed
    end
  end

  # A resumed session is not verified again.
  def test_an_unverified_session_is_not_resumed_by_a_verifying_connection
    client = Pelton::TLS::Context.new
    with_echo do |port|
      stream = Pelton.connect("localhost", port, tls: {context: client, verify: false})
      stream.write("x\n")
      stream.gets
      stream.close

      assert_raises(Pelton::VerificationError) { Pelton.connect("localhost", port, tls: client) }
    end
  end

  def handshake_without_an_answer
    stream, @silent = Pelton::Stream.pair
    [stream, Pelton.spawn { stream.start_tls(TRUST, server_name: "x") }]
  end

  def test_a_stream_that_is_closed_during_the_handshake
    Pelton.run do
      stream, task = handshake_without_an_answer
      Pelton.next_tick { stream.close }

      assert_raises(Pelton::ClosedError) { task.await }
    end
  end

  def test_a_task_that_is_cancelled_during_the_handshake
    Pelton.run do
      stream, task = handshake_without_an_answer
      Pelton::Reactor.current.yield
      task.cancel
      Pelton::Reactor.current.yield

      assert_predicate stream, :closed?
    end
  end

  # ---- foreign peers

  # Runs a program while the block talks to it: it waits for its peer to close.
  def talking_to(*command)
    Open3.popen2e(*command) do |input, output, process|
      yield input, output
    ensure
      Process.kill(:KILL, process.pid)
    end
  end

  def test_openssl_s_client_talks_to_a_listener
    with_echo do |port|
      Tempfile.create("ca") do |file|
        file.write(Certificates.authority)
        file.close
        command = %W[openssl s_client -connect 127.0.0.1:#{port} -servername localhost -CAfile #{file.path}
          -verify_return_error
          -verify_hostname localhost -quiet]
        talking_to(*command) do |input, output|
          input.write("hello\n")

          assert_match(/^depth=0 CN ?= ?localhost$/, output.each_line.take_while { |line| line != "hello\n" }.join)
        end
      end
    end
  end

  def test_renegotiation_compression_and_old_versions_are_off
    with_echo do |port|
      target = ["-connect", "127.0.0.1:#{port}"]
      output, = Open3.capture2e("openssl", "s_client", *target, "-tls1_2", stdin_data: "R\n")
      assert_match(/no renegotiation|RENEGOTIATING\n.*error/m, output)
      assert_match(/Compression: NONE/, output)
      output, = Open3.capture2e("openssl", "s_client", *target, "-tls1_1", "-cipher", "ALL:@SECLEVEL=0", stdin_data: "")
      assert_match(/protocol version|no protocols/, output)
      output, = Open3.capture2e("openssl", "s_client", *target, "-tls1_2", "-cipher", "AES128-SHA", stdin_data: "")

      assert_match(/handshake failure/, output)
    end
  end

  # The response to a key update is written while the stream is being read.
  def test_a_client_that_requests_a_key_update
    with_echo do |port|
      talking_to("openssl", "s_client", "-connect", "127.0.0.1:#{port}", "-tls1_3", "-brief") do |input, output|
        3.times do |number|
          input.write("K\n")
          assert_includes output.each_line.take_while { |line| line != "KEYUPDATE\n" }.join,
            number.zero? ? "TLSv1.3" : ""
          input.write("hello#{number}\n")

          assert_equal "hello#{number}\n", output.gets
        end
      end
    end
  end

  def test_a_client_talks_to_openssl_s_server
    Tempfile.create("server") do |file|
      file.write(Certificates.server.certificate, Certificates.server.key)
      file.close
      %w[-tls1_2 -tls1_3].each do |version|
        port = free_port
        talking_to("openssl", "s_server", "-accept", "127.0.0.1:#{port}", "-cert", file.path, "-rev",
          version) do |_, output|
          eventually("s_server answers") { answers?(port) }
          Pelton.run do
            stream = Pelton.connect("localhost", port, tls: TRUST)
            stream.write("abc\n")

            assert_equal "cba\n", stream.gets
            stream.close
          end
        end
      end
    end
  end

  private

  # Runs a listener that sends back lines, in a reactor.
  def with_echo(context = SERVER)
    Pelton.run do
      listener = Pelton.listen("127.0.0.1", 0, tls: context) do |stream|
        stream.on_data { |line| stream.write(line) }
      end
      yield listener.port
    ensure
      Pelton.stop
    end
  end

  def with_pair(**options)
    Pelton.run do
      client, server = Pelton::Stream.pair
      handshake = Pelton.spawn { server.start_tls(SERVER, server: true) }
      client.start_tls(TRUST, server_name: "localhost", **options)
      handshake.await
      yield client, server
    ensure
      client&.abort
      server&.abort
    end
  end

  def answers?(port)
    TCPSocket.new("127.0.0.1", port).close
    true
  rescue Errno::ECONNREFUSED
    sleep 0.01
    false
  end
end
