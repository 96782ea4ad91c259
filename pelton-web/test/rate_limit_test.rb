# frozen_string_literal: true

require "logger"
require "stringio"
require "test_helper"
require "pelton/memcached"
require "pelton/web"
require_relative "support/requests"
require_relative "../../test/support/memcached_process"

class WebRateLimitTest < PeltonTest
  include WebRequests

  APP = ->(_env) { [200, {}, ["x"]] }

  def setup
    @logger, Pelton.logger = Pelton.logger, Logger.new(@log = StringIO.new)
  end

  def teardown
    Pelton.logger = @logger
    @memcached&.close
    super
  end

  def limit(servers, requests: 3, seconds: 100, **options, &client)
    @memcached = Pelton::Memcached::Client.new(servers)
    Pelton::Web::RateLimit.new(APP, requests: requests, seconds: seconds, memcached: @memcached, **options, &client)
  end

  def statuses(app, count, address = "203.0.113.9") = Array.new(count) { request(app, "GET", "/", "REMOTE_ADDR" => address).status }

  def test_requests_beyond_the_limit
    with_memcached do |port|
      app = limit("127.0.0.1:#{port}")

      assert_equal [200, 200, 200, 429, 429], statuses(app, 5)
      assert_equal "100", request(app, "GET", "/", "REMOTE_ADDR" => "203.0.113.9")["retry-after"]
      assert_equal [200], statuses(app, 1, "203.0.113.10"), "another client"
    end
  end

  def test_the_count_ends_with_its_time
    with_memcached do |port|
      app = limit("127.0.0.1:#{port}", requests: 1, seconds: 1)
      statuses(app, 2)
      eventually("a new second") { statuses(app, 1) == [200] }
    end
  end

  # Fibers, processes and machines count together.
  def test_counting_together
    with_memcached do |port|
      app = limit("127.0.0.1:#{port}", requests: 10)
      all = Pelton.run { Pelton.map(Array.new(50)) { statuses(app, 1).first } }

      assert_equal({200 => 10, 429 => 40}, all.tally)
    end
  end

  def test_a_network_of_version_6_is_one_client
    with_memcached do |port|
      app = limit("127.0.0.1:#{port}", requests: 1)

      assert_equal [[200], [429], [200], [200], [429]],
        ["2001:db8::1", "2001:db8::ffff:2", "2001:db8:0:1::1", "::ffff:203.0.113.9", "203.0.113.9"].map { |address| statuses(app, 1, address) }
    end
  end

  # Also what could not be a key of memcached.
  def test_the_client_is_what_the_block_says
    with_memcached do |port|
      app = limit("127.0.0.1:#{port}", requests: 1) { |env| env["HTTP_X_USER"] }
      users = ["a", "a", nil, nil, "a\r\nflush_all", "é".b * 200, "a b"]

      assert_equal [200, 429, 200, 200, 200, 200, 200], users.map { |user| request(app, "GET", "/", "HTTP_X_USER" => user).status }
    end
  end

  def test_limits_with_other_names_count_for_themselves
    with_memcached do |port|
      assert_equal [200], statuses(limit("127.0.0.1:#{port}", requests: 1), 1)
      @memcached.close

      assert_equal [200, 429], statuses(limit("127.0.0.1:#{port}", requests: 1, name: "other"), 2)
    end
  end

  def test_without_memcached_requests_pass_and_a_line_is_logged
    app = limit("127.0.0.1:#{free_port}")

    assert_equal [200] * 20, statuses(app, 20)
    assert_match(/rate limit: requests are not counted: Pelton::\w+Error: /, @log.string)
    assert_operator @log.string.lines.grep(/rate limit/).size, :<, 20
  end

  def test_without_memcached_requests_are_refused_if_that_is_wanted
    app = limit("127.0.0.1:#{free_port}", failure: :refuse)

    assert_equal [503], statuses(app, 1)
    assert_match(/requests are refused/, @log.string)
  end

  def test_a_memcached_that_hangs
    memcached = MemcachedProcess.new
    app = limit(memcached.address, timeout: 0.05)
    statuses(app, 1)
    memcached.freeze_up

    assert_equal [200], statuses(app, 1)
    assert_match(/not counted/, @log.string)
  ensure
    memcached&.kill
  end

  def test_options
    [{failure: :other}, {requests: 0}, {seconds: 0.5}].each { |options| assert_raises(Pelton::Web::ConfigurationError) { limit("127.0.0.1:1", **options) } }
  end

  # Where there is no memcached, the process counts by itself.
  def test_the_setting_alone
    application = Class.new(Pelton::Web::Application) do
      settings.rate_limit = {requests: 1, seconds: 100}
      routes { get("/") { "x" } }
    end

    assert_equal [200, 429, 200], %w[203.0.113.1 203.0.113.1 203.0.113.2].map { |address| request(application, "GET", "/", "REMOTE_ADDR" => address).status }
    assert_equal 2, application.settings.rate_limit_store.size
    assert_raises(Pelton::Web::ConfigurationError) { Class.new(Pelton::Web::Application).settings.rate_limit_store = {} }
  end

  def test_the_setting
    with_memcached do |port|
      memcached = @memcached = Pelton::Memcached::Client.new("127.0.0.1:#{port}")
      application = Class.new(Pelton::Web::Application) do
        settings.rate_limit = {requests: 1, seconds: 100, memcached: memcached, client: ->(env) { env["HTTP_X_USER"] }}
        routes { get("/") { "x" } }
      end

      assert_equal [200, 429, 200], %w[a a b].map { |user| request(application, "GET", "/", "HTTP_X_USER" => user).status }
    end
  end
end
