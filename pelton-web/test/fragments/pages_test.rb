# frozen_string_literal: true

require "test_helper"
require "rack/lint"
require "rack/mock_request"
require "pelton/web"

class WebFragmentsPagesTest < PeltonTest
  # An application of another framework.
  class Shop
    include Pelton::Web::Fragments::Helper

    attr_reader :env, :rendered

    def initialize = @rendered = []

    def call(env)
      @env = env
      [200, {"content-type" => "text/html"}.merge(@more.to_h), [body(env["PATH_INFO"])]]
    end

    private

    def body(path)
      return "none" if path == "/none"
      @more = {"content-length" => "1"}
      outer = fragment("outer") do
        @rendered << :outer
        inner = fragment("inner") { (@rendered << :inner) && "deep" * 500 }
        "<p>#{inner}</p>"
      end
      "<h1>#{outer}</h1>"
    end
  end

  PAGE = "<h1><p>#{"deep" * 500}</p></h1>"

  def setup
    @shop = Shop.new
    @client = Rack::MockRequest.new(Rack::Lint.new(pages(@shop)))
  end

  def pages(app) = Pelton::Web::Fragments::Pages.new(app, Pelton::Web::Fragments.new)

  def test_a_page_in_pieces
    page = @client.get("/")

    assert_equal PAGE, page.body
    assert_equal PAGE.bytesize.to_s, page["content-length"]
    assert_equal PAGE, Zlib.gunzip(@client.get("/", "HTTP_ACCEPT_ENCODING" => "gzip").body)
    assert_equal 304, @client.get("/", "HTTP_IF_NONE_MATCH" => page["etag"]).status
    assert_equal %i[outer inner], @shop.rendered, "once"
  end

  def test_what_has_no_fragments_stays_as_it_is
    page = Rack::MockRequest.new(pages(Rack::Lint.new(@shop))).get("/none")

    assert_equal "none", page.body
    assert_nil page["etag"]
  end

  def test_head
    status, headers, = pages(@shop).call(Rack::MockRequest.env_for("/", method: "HEAD"))

    assert_equal 200, status
    assert_nil headers["content-length"]
  end

  def test_without_the_middleware
    assert_raises(Pelton::Web::ConfigurationError) { @shop.call({"PATH_INFO" => "/"}) }
  end
end
