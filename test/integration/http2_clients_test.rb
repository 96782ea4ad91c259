# frozen_string_literal: true

require "open3"
require "tempfile"
require_relative "../support/certificates"
require_relative "../support/http/peer"

# Foreign clients talk HTTP/2 to the server.
class Http2ClientsTest < PeltonTest
  include HttpPeer

  APP = lambda do |env|
    case env["PATH_INFO"]
    when "/echo" then [200, {}, [env["rack.input"].read]]
    when "/protocol" then [200, {}, ["#{env["SERVER_PROTOCOL"]} #{env["rack.url_scheme"]}"]]
    when "/large" then [200, {}, Array.new(100) { "x" * 100_000 }]
    else [200, {"content-type" => "text/plain"}, ["hello"]]
    end
  end

  def setup
    super
    skip "Pelton is built without HTTP/2" unless Pelton::HTTP.http2?
  end

  def test_curl_without_tls
    skip "no curl" unless installed?("curl")
    serving(APP) do
      assert_equal "HTTP/2 http",
        output_of("curl", "-sS", "--http2-prior-knowledge", "http://127.0.0.1:#{@port}/protocol")
      assert_equal 10_000_000,
        output_of("curl", "-sS", "--http2-prior-knowledge", "http://127.0.0.1:#{@port}/large").bytesize
    end
  end

  def test_curl_with_tls
    skip "no curl" unless installed?("curl")
    upload = Random.new(4).bytes(3_000_000)
    Tempfile.create("upload") do |file|
      file.binmode
      file.write(upload)
      file.flush
      serving_securely do
        assert_equal "HTTP/2 https", output_of("curl", "-sSk", "https://127.0.0.1:#{@port}/protocol")
        assert_equal "HTTP/1.1 https", output_of("curl", "-sSk", "--http1.1", "https://127.0.0.1:#{@port}/protocol")
        assert_equal upload,
          output_of("curl", "-sSk", "--data-binary", "@#{file.path}", "https://127.0.0.1:#{@port}/echo")
      end
    end
  end

  def test_nghttp
    skip "no nghttp" unless installed?("nghttp")
    serving(APP) do
      assert_equal "hello", output_of("nghttp", "http://127.0.0.1:#{@port}/")
      assert_match(/error_code=NO_ERROR/, output_of("nghttp", "-nv", "-m", "20", "http://127.0.0.1:#{@port}/large"))
    end
  end

  def test_h2load
    skip "no h2load" unless installed?("h2load")
    serving(APP) do
      report = output_of("h2load", "-n", "2000", "-c", "5", "-m", "20", "http://127.0.0.1:#{@port}/")

      assert_match(/ 2000 succeeded, 0 failed/, report)
    end
    serving_securely do
      assert_match(/ 500 succeeded, 0 failed/,
        output_of("h2load", "-n", "500", "-c", "5", "-m", "20", "https://127.0.0.1:#{@port}/"))
    end
  end

  private

  def serving_securely(&block)
    serving(APP) do
      @port = @server.listen("ssl://127.0.0.1:0", tls: Certificates.server.to_h).port
      block.call
    end
  end

  def installed?(program) = ENV["PATH"].split(":").any? { |folder| File.executable?(File.join(folder, program)) }

  def output_of(*command)
    output, errors, status = Open3.capture3(*command)

    assert_predicate status, :success?, "#{command.join(" ")}: #{errors}"
    output.b
  end
end
