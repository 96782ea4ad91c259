# frozen_string_literal: true

require "net/http"
require "open3"
require "tempfile"
require_relative "../test_helper"
require_relative "../support/certificates"
require "pelton/http"

# Pelton's HTTPS server with Pelton's client and with foreign clients.
class HTTPSTest < PeltonTest
  FILE = Tempfile.new("file").tap { |file| (file << Random.new(9).bytes(2_000_000)).flush }
  AUTHORITY = Tempfile.new("authority").tap { |file| (file << Certificates.authority).flush }

  APP = lambda do |env|
    case env["PATH_INFO"]
    when "/stream" then [200, {}, ->(stream) { 3.times { stream.write("x" * 100_000) }.then { stream.close } }]
    when "/file" then [200, {"content-length" => FILE.size.to_s}, File.open(FILE.path, "rb")]
    when "/upload" then [200, {"content-type" => "text/plain"}, [env["rack.input"].read.sum.to_s]]
    else [200, {"content-type" => "text/plain"}, [env["rack.url_scheme"]]]
    end
  end

  BODIES = {"/" => "https", "/stream" => "x" * 300_000, "/file" => File.binread(FILE.path)}.freeze

  def test_pelton_s_client
    with_server do |url|
      client = Pelton::HTTP::Client.new(url, tls: {ca_file: Certificates.authority})
      upload = Random.new(4).bytes(3_000_000)
      BODIES.each { |path, body| assert_equal body, client.get(path).body }

      assert_equal upload.sum.to_s, client.post("/upload", body: upload).body
      assert_equal({open: 1, idle: 1}, client.stats)
    end
  end

  # Only close_notify proves that a body without a length is complete: curl reports an error when close_notify is
  # missing.
  def test_curl
    skip "curl is missing" unless system("which", "curl", out: File::NULL)
    with_server do |url|
      BODIES.keys.product(%w[--http1.1 --http1.0]) do |path, version|
        output, errors, = Open3.capture3("curl", "-sS", version, "--cacert", AUTHORITY.path, "#{url}#{path}",
          binmode: true)

        assert_equal "", errors
        assert_equal BODIES[path].b, output.b
      end
    end
  end

  def test_net_http_in_the_same_reactor
    with_server do |url|
      uri = URI(url)
      Net::HTTP.start(uri.host, uri.port, use_ssl: true, ca_file: AUTHORITY.path) do |http|
        BODIES.each { |path, body| assert_equal body.b, http.get(path).body.b }
      end
    end
  end

  private

  def with_server
    Pelton.run do
      server = Pelton::HTTP::Server.new(APP, secure: true)
      yield "https://localhost:#{server.listen("ssl://127.0.0.1:0", tls: Certificates.server.to_h).port}"
    ensure
      Pelton.stop
    end
  end
end
