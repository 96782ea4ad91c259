# frozen_string_literal: true

require "pelton/web"
require_relative "../support/requests"

class WebHostsTest < PeltonTest
  include WebRequests

  APP = ->(env) { [200, {}, [Rack::Request.new(env).host]] }

  def status(host, *allowed)
    app = Pelton::Web::Hosts.new(APP, allowed)
    env = {"HTTP_HOST" => host, "SERVER_NAME" => "server.example"}.compact
    # The second is remembered
    statuses = Array.new(2) { app.call(Rack::MockRequest.env_for("/", env).merge(env)).first }

    assert_equal 1, statuses.uniq.size
    statuses.first
  end

  def test_own_hosts
    ["shop.example", "SHOP.example", "shop.example:8080", "shop.example."].each do |host|
      assert_equal 200, status(host, "shop.example"), host
    end
    assert_equal [200, 421], ["shop.example:80", "shop.example:81"].map { |host| status(host, "shop.example:80") }
  end

  def test_hosts_of_others
    ["evil.example", "evil-shop.example", "shop.example.evil.example", "www.shop.example", "127.0.0.1"].each do |host|
      assert_equal 421, status(host, "shop.example"), host
    end
  end

  def test_all_hosts_below_a_name
    assert_equal [200, 200, 421, 421], ["a.shop.example", "a.b.shop.example:1",
      "shop.example", "evilshop.example"].map { |host| status(host, ".shop.example") }
  end

  def test_addresses
    assert_equal [200, 200, 421], ["[::1]", "[::1]:9292", "[::2]"].map { |host| status(host, "[::1]") }
    assert_equal [200, 421], ["127.0.0.1:9292", "127.0.0.2"].map { |host| status(host, "127.0.0.1") }
  end

  def test_what_is_no_host
    ["shop.example/evil", "shop.example@evil.example", "evil.example#shop.example", "shop.example:", "shop.example:x",
      "shop.example:999999", "shop.example evil", "shop.example\0",
      "", ".shop.example", "[::1", "::1", "shop.example\n", "\xff.shop.example", "shop..example:80:80",
      "é.example"].each do |host|
      assert_equal 400, status(host, "shop.example", ".shop.example"), host.inspect
    end
  end

  def test_without_a_header_the_server_s_name_counts
    env = Rack::MockRequest.env_for("http://server.example/").tap { |one| one.delete("HTTP_HOST") }

    assert_equal [200, 421],
      %w[server.example shop.example].map { |host| Pelton::Web::Hosts.new(APP, [host]).call(env.dup).first }
  end

  def test_a_forwarded_host_is_nobody_s_own_word
    application = Class.new(Pelton::Web::Application) do
      settings.hosts = ["shop.example"]
      routes { get("/") { request.host } }
    end
    answers = [{}, {"HTTP_HOST" => "evil.example", "HTTP_X_FORWARDED_HOST" => "shop.example"}].map do |env|
      request(application, "GET", "/", "HTTP_HOST" => "shop.example", "HTTP_X_FORWARDED_HOST" => "evil.example", **env)
    end

    assert_equal [200, "shop.example"], [answers[0].status, answers[0].body]
    assert_equal 421, answers[1].status
  end

  def test_many_hosts
    app = Pelton::Web::Hosts.new(APP, ["shop.example"])
    2500.times { |index| app.call({"HTTP_HOST" => "h#{index}.example"}) }

    assert_operator app.instance_variable_get(:@known).size, :<=, 1000
  end

  def test_hosts_are_checked
    ["https://shop.example", "shop.example/", "*", ""].each do |host|
      assert_raises(Pelton::Web::ConfigurationError, host) { Pelton::Web::Hosts.new(APP, [host]) }
    end
  end

  def test_the_default
    settings = Pelton::Web::Settings.new
    settings.environment = "development"

    assert_includes settings.hosts, "localhost"
    settings.environment = "production"

    assert_nil settings.hosts
    assert_equal :app, Pelton::Web::Hosts.wrap(:app, settings)
  end
end
