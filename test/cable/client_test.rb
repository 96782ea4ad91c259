# frozen_string_literal: true

require "test_helper"
require "support/cable_client"

# How the client for browsers is served. What it does is tested in a browser: test/integration/cable/client_test.rb.
class CableClientTest < PeltonTest
  include CableClient

  def test_it_is_below_the_path_of_the_server
    serving do |url, cable|
      path = "#{url.sub("ws", "http")}client.js"
      response = Pelton::HTTP.get(path)
      assert_equal 200, response.status
      assert_equal "text/javascript; charset=utf-8", response.headers["content-type"]
      assert_includes response.body, "export class Cable"
      assert_equal 304, Pelton::HTTP.get(path, headers: {"if-none-match" => response.headers["etag"]}).status
      head = Pelton::HTTP.head(path)
      assert_equal 200, head.status
      assert_equal "", head.body.to_s
      assert_equal 426, Pelton::HTTP.post(path, body: "").status
      assert_equal 426, Pelton::HTTP.get("#{path}x").status
    end
  end
end
