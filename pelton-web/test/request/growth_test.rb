# frozen_string_literal: true

require "test_helper"
require "pelton/web"
require "rack/mock_request"
require_relative "../../../test/support/effort"

# Twice as much of anything that a client sends costs twice as much, and never the square.
class WebRequestGrowthTest < PeltonTest
  include Effort

  OWN = {
    "HTTP_SEC_FETCH_SITE" => "same-origin", "REMOTE_ADDR" => "127.0.0.1", "HTTP_HOST" => "example.org"
  }.freeze
  JSON_TYPE = "application/json"
  FORM_TYPE = "application/x-www-form-urlencoded"

  APPLICATION = Class.new(Pelton::Web::Application) do
    settings.environment = "production"
    settings.secrets = ["s" * 64]
    settings.trusted_proxies = ["127.0.0.1"]
    settings.hosts = ["example.org"]
    settings.params = {depth: 1000, count: 100_000, bytes: 1 << 22}
    routes do
      both = lambda do
        session[:seen]
        cookies[:other]
        cookies.encrypted[:third]
        params.to_h
        params.string(:name, default: "")
        respond_to do |format|
          format.html { stale?(etag: "x") && render(plain: request.url) }
          format.any { render(plain: "") }
        end
      end
      get "/", &both
      post "/", &both
    end
  end.boot!

  # @return [Integer] the status
  def ask(method: "GET", path: "/", input: "", **env)
    Rack::MockRequest.new(APPLICATION).request(method, path, {**OWN, **env.transform_keys(&:to_s), input: input}).status
  end

  def post(type, input) = ask(method: "POST", CONTENT_TYPE: type, input: input)

  {
    "pairs" => ->(size) { "a=1; " * size },
    "names in values" => ->(size) { "asession=" * size },
    "blanks" => ->(size) { (" " * size) + ("xsession=" * size) },
    "names after blanks" => ->(size) { "x#{" " * 20}session=" * size },
    "semicolons" => ->(size) { ";" * size },
    "escapes" => ->(size) { "session=#{"%41" * size}" },
    "one cookie" => ->(size) { "session=#{"A" * size}" },
    "percent signs" => ->(size) { "other=#{"%" * size}" }
  }.each do |name, make|
    define_method(:"test_cookies_#{name.tr(" ", "_")}") do
      assert_linear(name, 2000) { |size| ask(HTTP_COOKIE: make.call(size)) }
    end
  end

  {
    "ACCEPT" => "text/html;q=0.1, ", "ACCEPT_ENCODING" => "gzip;q=0.1, ", "ACCEPT_LANGUAGE" => "de;q=0.1, ",
    "IF_NONE_MATCH" => "\"a\", ", "IF_MODIFIED_SINCE" => "Sat, ", "X_FORWARDED_FOR" => "127.0.0.1, ",
    "X_FORWARDED_PROTO" => "https, ", "X_FORWARDED_HOST" => "example.org, ", "RANGE" => "bytes=0-1,",
    "ORIGIN" => "http://example.org/", "AUTHORIZATION" => "Basic QQ==", "X_REQUEST_ID" => "a b",
    "CONTENT_TYPE" => "text/plain; a=b", "REFERER" => "http://example.org/?"
  }.each do |name, piece|
    define_method(:"test_header_#{name.downcase}") do
      assert_linear(name, 1000) { |size| ask("HTTP_#{name}": piece * size) }
    end
  end

  {
    "parameters" => ->(size) { Array.new(size) { |number| "a#{number}=1" }.join("&") },
    "values" => ->(size) { "a[]=1&" * size },
    "one name" => ->(size) { "a=1&" * size },
    "members" => ->(size) { Array.new(size) { |number| "a[b#{number}]=1" }.join("&") },
    "one value" => ->(size) { "a=#{"%41" * size}" },
    "separators" => ->(size) { "&" * size }
  }.each do |name, make|
    define_method(:"test_query_#{name.tr(" ", "_")}") do
      assert_linear(name, 500) { |size| ask(path: "/?#{make.call(size)}") }
    end
    define_method(:"test_form_#{name.tr(" ", "_")}") do
      assert_linear(name, 500) { |size| post(FORM_TYPE, make.call(size)) }
    end
  end

  # The depth of a form's names is limited: Rack's parser reads the rest of the name for each.
  def test_depth
    assert_linear("JSON", 200) { |size| post(JSON_TYPE, "#{"[" * size}#{"]" * size}") }
  end

  def test_json
    members = ->(size) { Array.new(size) { |number| "\"a#{number}\":1" }.join(",") }
    assert_linear("members", 500) { |size| post(JSON_TYPE, "{#{members.call(size)}}") }
    assert_linear("elements", 500) { |size| post(JSON_TYPE, "[#{"1," * size}1]") }
  end

  def test_parts
    type = "multipart/form-data; boundary=X"
    part = ->(more) { "--X\r\ncontent-disposition: form-data; name=\"a[]\"#{more}\r\n\r\n1\r\n" }
    assert_linear("parts", 200) { |size| post(type, "#{part.call("") * size}--X--\r\n") }
    assert_linear("a header of a part", 200) { |size| post(type, "#{part.call("; a=\"b\"" * size)}--X--\r\n") }
  end

  def test_paths
    assert_linear("segments", 500) { |size| ask(path: "/#{"a/" * size}") }
    assert_linear("escapes", 500) { |size| ask(path: "/#{"%2e" * size}") }
  end

  # What is refused would cost little.
  def test_what_is_sent_is_read
    assert_equal 200, post(FORM_TYPE, "a[]=1&" * 1000)
    assert_equal 200, post(JSON_TYPE, "#{"[" * 400}#{"]" * 400}")
    assert_equal 200, ask(HTTP_COOKIE: "asession=" * 4000, HTTP_X_FORWARDED_FOR: "127.0.0.1, " * 2000)
    assert_equal 400, post(FORM_TYPE, "a=%"), "the body is parsed"
  end

  # The square, to be sure that it is seen.
  def test_the_square_is_seen
    assert_raises(Minitest::Assertion) do
      assert_linear("the square", 100) { |size| size.times { ("a" * size).rstrip } }
    end
  end
end
