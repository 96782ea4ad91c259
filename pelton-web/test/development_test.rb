# frozen_string_literal: true

require "test_helper"
require "pelton/web"
require "rack/lint"
require "rack/mock_request"

class WebDevelopmentTest < PeltonTest
  def local?(address, host) = Pelton::Web::Development.local?({"REMOTE_ADDR" => address, "HTTP_HOST" => host})

  def test_a_request_of_this_machine_for_this_machine
    [["127.0.0.1", "localhost:9292"], ["127.0.0.2", "127.0.0.1"], ["::1", "[::1]:80"],
      ["::1", "shop.localhost"]].each { |request| assert local?(*request), request.inspect }
  end

  # A name of somebody else's may lead to 127.0.0.1, and the browser of this machine follow it.
  def test_all_others
    [["10.0.0.1", "localhost"], ["127.0.0.1", "evil.example"], ["127.0.0.1", "localhost.evil.example"],
      ["", "localhost"], [nil, nil], ["127.0.0.1", ""],
      ["127.0.0.1", "127.0.0.1.evil.example"], ["unix", "localhost"]].each do |request|
        refute local?(*request), request.inspect
      end
  end

  def test_a_page_has_its_own_policy_and_no_script
    answer = Rack::MockRequest.new(Rack::Lint.new(->(_) {
      Pelton::Web::Development.page("slow", 200, threshold: 1,
        stalls: [], places: [])
    })).get("/")

    assert_equal 200, answer.status
    assert_equal "no-store", answer["cache-control"]
    assert_includes answer["content-security-policy"], "default-src 'none'"
    refute_includes answer.body, "<script"
  end
end
