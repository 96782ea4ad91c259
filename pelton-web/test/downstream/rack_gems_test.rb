# frozen_string_literal: true

require_relative "../support/web_program"

# Middleware of other gems that the guide names.
class WebRackGemsTest < PeltonTest
  include WebProgram

  PROGRAM = <<~RUBY
    require "pelton/web"
    require "rack/cors"
    require "rack/mock_request"

    class Shop < Pelton::Web::Application
      settings.environment = "test"
      settings.trusted_origins = ENV["TRUSTED"].to_s.split
      routes { match("/api/x", via: %i[get post put]) { "x" } }
    end

    APP = Rack::Builder.new do
      GUIDE
    end.to_app

    def ask(verb, origin, env = {})
      env = {
        "HTTP_ORIGIN" => origin,
        "HTTP_SEC_FETCH_SITE" => "cross-site",
        "CONTENT_TYPE" => "application/json",
        :input => "{}"
      }.merge(env)
      answer = Rack::MockRequest.new(APP).request(verb, "/api/x", env)
      [answer.status, answer["access-control-allow-origin"], answer["vary"]]
    end
  RUBY

  def run_cors(code, trusted: "")
    web_output(
      "ENV[\"TRUSTED\"] = #{trusted.inspect}\n#{PROGRAM.sub("GUIDE", guide_code("web_security.md", "CORS"))}#{code}"
    )
  end

  def test_an_origin_that_is_named_reads_the_responses
    output = run_cors(<<~RUBY)
      p ask("GET", "https://app.example")
      others = ["null", "http://app.example", "https://app.example:8443",
        "https://app.example.evil.example", "https://evilapp.example"].map { |origin| ask("GET", origin) }
      p others.uniq
      p ask("OPTIONS", "https://app.example",
        "HTTP_ACCESS_CONTROL_REQUEST_METHOD" => "POST", "HTTP_ACCESS_CONTROL_REQUEST_HEADERS" => "content-type")[1]
      p ask("OPTIONS", "https://evil.example", "HTTP_ACCESS_CONTROL_REQUEST_METHOD" => "POST")[1]
    RUBY

    assert_equal ['[200, "https://app.example", "Origin"]', '[[200, nil, "Origin"]]', '"https://app.example"', "nil"],
      output.lines.map(&:chomp)
  end

  def test_what_changes_something_needs_an_origin_that_is_trusted
    ask = 'p ask("POST", "https://app.example").first, ask("POST", "https://evil.example").first'

    assert_equal %w[403 403], run_cors(ask).split
    assert_equal %w[200 403], run_cors(ask, trusted: "https://app.example").split
  end
end
