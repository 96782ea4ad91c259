# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/http/environment"

class HTTPEnvironmentTest < PeltonTest
  Environment = Pelton::HTTP::Environment
  Configuration = Pelton::HTTP::Configuration

  # The settings by these variables, and by a configuration file.
  def configured(variables, file = "", named: true)
    Dir.mktmpdir do |dir|
      path = "#{dir}/settings.rb"
      File.write(path, file)
      variables = {"PELTON_CONFIG" => path, **variables} unless named
      return Configuration.new.tap { |configuration|
        Environment.new(variables).apply(configuration, file: (path if named))
      }
    end
  end

  def test_each_setting_has_a_variable
    values = {log_format: "json", live_path: "/live", ready_path: "/ready", preload: "true", quiet: "yes", secure: "1",
              huge_pages: "off", early_hints: "on", http2_websockets: "on", gzip: "on", gzip_cookies: "on",
              acme: "a.example", x_accel: "/a/=/b,/c=/d",
              tls_reload: "on", tls: "on", https_only: "on", pubsub: "redis://h"}
    values.default = "3"
    configuration = configured(Environment::VARIABLES.to_h { |variable, setting| [variable, values[setting]] })

    assert_equal ["3", 3, true, false, true, "3", "json", "3", 3, "3", "3", "/live", "/ready", "redis://h"],
      %i[rackup workers preload huge_pages quiet log log_format control shutdown_timeout pidfile tag live_path
        ready_path pubsub].map { |setting| configuration.public_send(setting) }
    assert_equal({**Pelton::HTTP::Server::DEFAULTS.transform_values { 3 }, public: "3", x_sendfile: ["3"],
      x_accel: {"/a/" => "/b", "/c" => "/d"}, secure: true, early_hints: true, http2_websockets: true, gzip: true,
      gzip_cookies: true},
      configuration.server_options)
    assert_equal({boot_timeout: 3, worker_timeout: 3, memory: 3, memory_after: 60}, configuration.cluster_options)
  end

  # All that a program of other purpose reads has another name.
  def test_no_variable_means_anything_else
    others = %w[PELTON_BACKEND PELTON_WATCHDOG PELTON_SOCKETS PELTON_MEMCACHED PELTON_LAB PELTON_SEED PELTON_PORT]

    assert_empty Environment::VARIABLES.keys & others
  end

  def test_a_misspelt_variable_is_refused
    {"PELTON_REQUEST_TIMEUOT" => "PELTON_REQUEST_TIMEOUT", "PELTON_WORKER" => "PELTON_WORKERS",
     "PELTON_CONFG" => "PELTON_CONFIG"}.each do |name, meant|
      error = assert_raises(Configuration::Invalid) { configured({name => ""}) }

      assert_equal "the environment variable #{name} is none of Pelton's; did you mean #{meant}?", error.message
    end
  end

  # What Kubernetes sets for a service called pelton or pelton-web is not the program's.
  def test_variables_that_are_not_known
    foreign =
      %w[PELTON_PORT PELTON_SERVICE_HOST PELTON_SERVICE_PORT PELTON_SERVICE_PORT_HTTP PELTON_WEB_SERVICE_HOST
        PELTON_PORT_9292_TCP PELTON_PORT_9292_TCP_ADDR]
    variables = [*foreign, "PELTON_BACKEND", "PELTON_WATCHDOG", "PELTON_BIND", "PELTON_WORKERS", "OTHER",
      "PELTON_XYZZY"].to_h { |name| [name, "1"] }

    assert_equal ["PELTON_XYZZY"], Environment.new(variables).unknown
  end

  def test_they_win_over_the_file
    one = configured({"PELTON_WORKERS" => "2"}, "workers 1; shutdown_timeout 30")
    assert_equal 2, one.workers
    assert_equal 30, one.shutdown_timeout
  end

  def test_addresses_take_the_place_of_the_files
    configuration = configured({"PELTON_BIND" => "tcp://127.0.0.1:1 unix:///run/app?mode=660"},
      "bind 'tcp://127.0.0.1:2'")

    assert_equal %w[tcp://127.0.0.1:1 unix:///run/app], configuration.addresses.keys
    assert_equal({"/run/app" => 0o660}, configuration.modes)
  end

  # As with Puma: platforms set them for whatever runs there.
  def test_what_is_not_peltons_own_is_a_default
    common = {"WEB_CONCURRENCY" => "3", "PORT" => "8080"}
    seen = lambda do |variables, file = ""|
      configured(variables, file).then { |one| [one.workers, one.addresses.keys.map { |address| address[/\d+\z/] }] }
    end

    assert_equal [3, %w[8080]], seen[common]
    assert_equal [1, %w[80]], seen[common, "workers 1; port 80"]
    assert_equal [2, %w[81]],
      seen[common.merge("PELTON_WORKERS" => "2", "PELTON_BIND" => "tcp://127.0.0.1:81"), "workers 1; port 80"]
    assert_equal [0, %w[9292]], seen[{}]
  end

  def test_the_file_may_be_named
    assert_equal 7, configured({}, "workers 7", named: false).workers
    assert_match(/no configuration file nowhere.rb/,
      assert_raises(Configuration::Invalid) do
        Environment.new({"PELTON_CONFIG" => "nowhere.rb"}).apply(Configuration.new)
      end.message)
  end

  def test_empty_variables_are_not_set
    assert_equal 1, configured({"PELTON_WORKERS" => "", "WEB_CONCURRENCY" => " ", "PORT" => ""}, "workers 1").workers
  end

  def test_switches
    assert_equal [true, true, false, false],
      %w[TRUE on false 0].map { |text| configured({"PELTON_PRELOAD" => text}).preload }
  end

  def test_what_is_wrong_is_named
    {"PELTON_WORKERS" => "many", "PELTON_PRELOAD" => "perhaps", "PELTON_BIND" => "here", "PORT" => "70000",
     "WEB_CONCURRENCY" => "auto", "PELTON_MAX_BODY" => "1X",
     "PELTON_LIVE_PATH" => "live"}.each do |name, text|
      assert_match(/\Athe environment variable #{name}: /,
        assert_raises(Configuration::Invalid) { configured({name => text}) }.message)
    end
  end
end
