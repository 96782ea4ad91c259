# frozen_string_literal: true

require_relative "../../test_helper"
require "pelton/http"

class HTTPClientOptionsTest < PeltonTest
  Client = Pelton::HTTP::Client
  WRONG = {
    timeout: "3", connect_timeout: -1, read_timeout: :never, concurrency: 0, keep_alive: nil,
    redirects: nil, retries: -1,
    max_body: "1M",
    expect: "1M", stream: 1, decode: "no", http2: "h2"
  }.freeze

  def test_a_wrong_value_is_refused_where_it_is_given
    WRONG.each do |name, value|
      error = assert_raises(ArgumentError, name) { Client.new(name => value) }

      assert_match(/\A#{name}: must be .*, not #{Regexp.escape(value.inspect)}\z/, error.message)
    end
  end

  def test_a_wrong_value_of_a_request_is_refused
    WRONG.except(:concurrency, :keep_alive, :http2).each do |name, value|
      error = assert_raises(ArgumentError, name) { Client.new.get("http://127.0.0.1:1/", name => value) }

      assert_match(/\A#{name}: must be/, error.message)
    end
  end

  def test_what_is_unknown_and_what_is_right
    assert_match(/unknown options: a, b/, assert_raises(ArgumentError) { Client.new(a: 1, b: 2) }.message)
    assert_match(/unknown option: concurrency/,
      assert_raises(ArgumentError) { Client.new.get("http://127.0.0.1:1/", concurrency: 1) }.message)
    assert Client.new(**Client::DEFAULTS, concurrency: 1, keep_alive: 0.5, http2: :prior_knowledge)
    assert Client.new(timeout: 0, expect: nil, redirects: 0)
    assert Client.new(max_body: nil), "no limit"
    assert_match(/cookies: must be/, assert_raises(ArgumentError) { Client.new(cookies: "jar") }.message)
  end
end
