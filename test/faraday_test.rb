# frozen_string_literal: true

require "tempfile"
require "zlib"
require_relative "test_helper"
require_relative "support/certificates"
require_relative "support/http/scripts"
require "pelton/faraday"

# Each exchange is made by Faraday's adapter for Net::HTTP as well, and gives the same.
class FaradayTest < PeltonTest
  include HTTPScripts

  ADAPTERS = %i[net_http pelton].freeze

  def connection(server, adapter, tls: false, **options, &block)
    ssl = tls ? {ca_file: authority_file} : {}
    Faraday.new(server.url, ssl: ssl, **options) do |faraday|
      block&.call(faraday)
      faraday.adapter(adapter)
    end
  end

  def authority_file
    @authority ||= Tempfile.new("authority").tap { |file| file.write(Certificates.authority) && file.flush }
    @authority.path
  end

  # What the block returns with each adapter, in a reactor.
  def with_each(answer, tls: nil, **options, &configure)
    ADAPTERS.map do |adapter|
      server = script(tls, &answer)
      Pelton.run { yield connection(server, adapter, tls: !!tls, **options), server }
    end
  end

  def assert_same(expected, answer, **options, &block)
    ADAPTERS.zip(with_each(answer, **options, &block)) { |adapter, value| assert_equal expected, value, adapter }
  end

  def context(identity)
    OpenSSL::SSL::SSLContext.new.tap do |context|
      context.cert = identity.x509
      context.key = identity.private_key
    end
  end

  def text(body, *headers)
    "HTTP/1.1 200 OK\r\n#{headers.map { |header| "#{header}\r\n" }.join}Content-Length: #{body.bytesize}\r\n\r\n#{body}"
  end

  def echo(request) = text("#{request.verb} #{request.path} #{request.body}")

  def test_methods_and_bodies
    answer = ->(request, _) { echo(request) }
    %i[get delete options].each do |verb|
      assert_same("#{verb.upcase} /a?b=c ", answer) { |faraday| faraday.public_send(verb, "/a", b: "c").body }
    end
    %i[post put patch].each do |verb|
      assert_same("#{verb.upcase} /a b=c", answer) { |faraday| faraday.public_send(verb, "/a", "b=c").body }
    end
    assert_same("POST /a ", answer) { |faraday| faraday.post("/a").body }
    assert_same("POST /a file", answer) do |faraday|
      faraday.post("/a", StringIO.new("file"), "Content-Length" => "4").body
    end
  end

  def test_a_response
    answer = ->(_, _) do
      "HTTP/1.1 404 Not Here\r\nX-Some: 1\r\nX-Some: 2\r\nContent-Type: text/plain; charset=ISO-8859-1\r\n" \
      "Content-Length: 1\r\n\r\n\xE4"
    end
    assert_same([404, "Not Here", "1, 2", Encoding::ISO_8859_1], answer) do |faraday|
      response = faraday.get("/")
      [response.status, response.reason_phrase, response.headers["X-Some"], response.body.encoding]
    end
  end

  def test_redirects_are_not_followed
    assert_same(302, ->(_, _) { "HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n" }) do |faraday|
      faraday.get("/").status
    end
  end

  def test_a_compressed_body
    answer = ->(_, _) { text(Zlib.gzip("x" * 1_000), "Content-Encoding: gzip") }
    assert_same(["x" * 1_000, "gzip"], answer) do |faraday|
      response = faraday.get("/")
      [response.body, response.headers["Content-Encoding"]]
    end
    assert_same("gzip", answer) do |faraday|
      faraday.get("/", nil, "Accept-Encoding" => "gzip").headers["Content-Encoding"]
    end
  end

  # Of more than the client collects by default.
  def test_a_large_body
    size = 65 << 20
    answer = ->(_, socket) { socket.write("HTTP/1.1 200 OK\r\nContent-Length: #{size}\r\n\r\n", "x" * size) && nil }

    assert_same(size, answer) { |faraday| faraday.get("/").body.bytesize }
  end

  # Faraday itself finds proxies in the environment, unless it is told not to.
  def test_a_proxy_of_the_environment
    proxy = script { |request, _| text("proxy: #{request.path}") }
    before, ENV["http_proxy"] = ENV["http_proxy"], proxy.url
    url = "http://elsewhere.invalid/a"
    assert_same("proxy: #{url}", ->(_, _) {}) { |faraday| faraday.get(url).body }
    Faraday.ignore_env_proxy = true
    assert_same(Faraday::ConnectionFailed, ->(_, _) {}) { |faraday| error_of { faraday.get(url) } }
  ensure
    Faraday.ignore_env_proxy = false
    ENV["http_proxy"] = before
  end

  def test_pieces_as_they_come
    answer = ->(_, _) { text("one two") }
    assert_same([["one two", 7, 200], ""], answer) do |faraday|
      pieces = +""
      last = nil
      response = faraday.get("/") do |request|
        request.options.on_data = ->(piece, size, env) { (pieces << piece) && last = [size, env.status] }
      end
      [[pieces, *last], response.body]
    end
  end

  def test_pieces_come_before_the_end
    more = Queue.new
    server = script do |_, socket|
      socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
      more.pop
      "3\r\ntwo\r\n0\r\n\r\n"
    end
    pieces = []
    Pelton.run do
      connection(server, :pelton).get("/") do |request|
        request.options.on_data = ->(piece, _, _) { (pieces << piece) && more.push(true) }
      end
    end

    assert_equal %w[one two], pieces
  end

  def test_connections_are_kept_by_all_of_the_same_settings
    server = script { |request, _| echo(request) }
    Pelton.run { 5.times { connection(server, :pelton).get("/") } }

    assert_equal 1, server.connections
  end

  def test_tls
    tls = context(Certificates.server)
    assert_same("GET /a ", ->(request, _) { echo(request) }, tls: tls) { |faraday| faraday.get("/a").body }
  end

  def error_of
    yield
    nil
  rescue Faraday::Error => error
    error.class
  end

  def test_errors_of_tls
    tls = context(Certificates.for("other.example"))
    assert_same(Faraday::SSLError, ->(request, _) { echo(request) }, tls: tls) do |faraday|
      error_of { faraday.get("/") }
    end
  end

  def test_errors_of_the_connection
    assert_same(Faraday::ConnectionFailed, ->(_, _) { :close }) { |faraday| error_of { faraday.post("/", "x") } }
    assert_same(Faraday::ConnectionFailed, ->(_, _) { :close }) do |faraday, server|
      server.close
      error_of { faraday.get("/") }
    end
  end

  def test_a_server_that_does_not_answer_in_time
    over = Queue.new
    answer = lambda do |_, _|
      over.pop
      :close
    end
    assert_same(Faraday::TimeoutError, answer, request: {timeout: 0.05, open_timeout: 30}) do |faraday|
      error_of { faraday.post("/", "x") }.tap { over << true }
    end
  end

  def test_an_error_has_its_cause
    server = script { |_, _| :close }
    error = assert_raises(Faraday::ConnectionFailed) { Pelton.run { connection(server, :pelton).post("/", "x") } }

    assert_kind_of Pelton::ConnectionError, error.wrapped_exception
  end

  def test_options_of_tls_that_are_not_supported_are_refused
    error = assert_raises(ArgumentError) do
      Faraday.new("https://localhost", ssl: {verify_depth: 3}) { |faraday| faraday.adapter(:pelton) }.get("/")
    end

    assert_match(/\Assl: verify_depth: Pelton's adapter takes ca_file, .*min_version and max_version\z/, error.message)
  end

  def test_without_the_gem
    _, errors, status = run_ruby("require 'pelton/faraday'")

    refute_predicate status, :success?
    assert_match(/add gem "faraday" to the Gemfile/, errors)
  end
end
