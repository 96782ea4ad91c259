# frozen_string_literal: true

require "open3"
require "tmpdir"
require_relative "../test_helper"
require_relative "../support/certificates"
require "pelton/http"

# Scanners look for weak spots of the TLS server.
class TLSIntegrationTest < PeltonTest
  LISTENERS = {
    stream: -> { Pelton.listen("127.0.0.1", 0, tls: Certificates.server.to_h) { |stream| stream.on_data {} } },
    http_server: -> {
      Pelton::HTTP::Server.new(->(_env) { [200, {}, []] }).listen("ssl://127.0.0.1:0",
        tls: Certificates.server.to_h)
    }
  }.freeze

  LISTENERS.each do |name, listen|
    define_method("test_sslscan_finds_nothing_weak_in_a_#{name}") do
      skip "sslscan is missing" unless system("which", "sslscan", out: File::NULL)
      Pelton.run do
        report, = Open3.capture2("sslscan", "--no-colour", "127.0.0.1:#{listen.call.port}")
        check(report)
      ensure
        Pelton.stop
      end
    end
  end

  # An attacker could replay early data, so the server accepts none.
  def test_early_data_is_refused
    Dir.mktmpdir do |folder|
      File.write("#{folder}/early", "GET /early HTTP/1.1\r\nHost: h\r\n\r\n")
      asked = []
      Pelton.run do
        server = Pelton::HTTP::Server.new(->(env) { (asked << env["PATH_INFO"]) && [200, {}, []] })
        command =
          %W[openssl s_client -connect
            127.0.0.1:#{server.listen("ssl://127.0.0.1:0", tls: Certificates.server.to_h).port} -tls1_3 -ign_eof]
        request = "GET /first HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
        first, = Open3.capture2e(*command, "-sess_out", "#{folder}/session", stdin_data: request)

        assert_match(/Max Early Data: 0/, first)
        second, = Open3.capture2e(*command, "-sess_in", "#{folder}/session", "-early_data", "#{folder}/early",
          stdin_data: request)

        assert_match(/Early data was (not sent|rejected)|cannot be used for early data/i, second)
      ensure
        Pelton.stop
      end
      refute_includes asked, "/early"
      assert_includes asked, "/first"
    end
  end

  private

  def check(report)
    enabled = report.scan(/^(\S+)\s+enabled$/).flatten
    ciphers = report.scan(/^(?:Preferred|Accepted)\s+(\S+)\s+(\d+) bits\s+(\S+)/)

    assert_equal %w[TLSv1.2 TLSv1.3], enabled
    assert_match(/renegotiation not supported/, report)
    refute_match(/^TLSv\S+ vulnerable/, report)
    assert_operator ciphers.size, :>=, 4
    refute_match(/ffdhe/, report) # a handshake with a large finite field would take the server long
    ciphers.each do |_, bits, name|
      assert_operator bits.to_i, :>=, 128
      assert_match(/\ATLS_|\AECDHE-.*(GCM|CHACHA20)/, name)
    end
  end
end
