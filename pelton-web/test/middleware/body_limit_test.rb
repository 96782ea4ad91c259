# frozen_string_literal: true

require "stringio"
require "pelton/web"
require_relative "../support/requests"

class WebBodyLimitTest < PeltonTest
  include WebRequests

  # Reads the body in different ways.
  READERS = {
    "/all" => ->(input) { input.read }, "/gets" => ->(input) { input.gets }, "/none" => ->(_input) { "" },
    "/each" => ->(input) { (+"").tap { |all| input.each { |part| all << part } } }
  }.freeze
  APP = ->(env) { [200, {}, [READERS.fetch(env["PATH_INFO"]).call(env["rack.input"]).to_s]] }

  # Without a length, as a chunked request.
  def chunked(path, body, limit: 10)
    app = Pelton::Web::BodyLimit.new(APP, limit)
    env = Rack::MockRequest.env_for(path, method: "POST", input: body).tap { |one| one.delete("CONTENT_LENGTH") }
    status, _, parts = Rack::Lint.new(app).call(env.merge("HTTP_TRANSFER_ENCODING" => "chunked"))
    [status, parts.to_enum.to_a.join]
  end

  def test_a_length_beyond_the_limit_is_refused_at_once
    called = false
    app = Pelton::Web::BodyLimit.new(->(_env) { [200, {}, [(called = true).to_s]] }, 10)

    assert_equal 413, request(app, "POST", "/", :input => "x" * 11, "HTTP_ACCEPT" => "application/json").status
    refute called
    assert_equal 200, request(app, "POST", "/", input: "x" * 10).status
    assert_equal 200, request(app, "GET", "/").status
  end

  def test_a_body_without_a_length_is_counted
    %w[/all /gets /each].each do |path|
      assert_equal [200, "x" * 10], chunked(path, "x" * 10), path
      assert_equal 413, chunked(path, "x" * 11).first, path
    end
  end

  def test_a_body_that_nobody_reads_is_not_counted
    assert_equal 200, chunked("/none", "x" * 11).first
  end

  def test_a_body_is_read_into_a_buffer
    input = Pelton::Web::BodyLimit::Input.new(StringIO.new("abcdef"), 6, -> { Pelton::Web::TooLarge.new("x") })
    buffer = +""

    assert_equal "abc", input.read(3, buffer)
    assert_equal "abc", buffer
    assert_equal "def", input.read(nil, buffer)
    assert_equal "", input.read
    assert_nil input.read(1)
  end

  def test_the_server_s_chunked_requests
    application = Class.new(Pelton::Web::Application) do
      settings.max_body = 10
      settings.forgery_protection = false
      routes { post("/") { env["rack.input"].read } }
    end
    with_server(application) do |url|
      assert_equal([200, 413],
        [%w[12345 67890], %w[123456 67890]].map { |parts| Pelton::HTTP.post(url, body: parts).status })
    end
  end
end
