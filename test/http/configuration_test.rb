# frozen_string_literal: true

require "tempfile"
require_relative "../test_helper"
require "pelton/http/configuration"

class HTTPConfigurationTest < PeltonTest
  Configuration = Pelton::HTTP::Configuration

  def load(text)
    Tempfile.create(["pelton", ".rb"]) do |file|
      file.write(text)
      file.flush
      return Configuration.new.load(file.path)
    end
  end

  # The three variables, and no others of them.
  def in_environment(variables = {})
    names = %w[APP_ENV RACK_ENV RAILS_ENV]
    before = ENV.to_h.slice(*names)
    ENV.update(names.to_h { |name| [name, variables[name]] })
    yield
  ensure
    ENV.update(names.to_h { |name| [name, before[name]] })
  end

  def test_what_it_is_without_a_file
    configuration = Configuration.new

    in_environment { assert_equal({"tcp://127.0.0.1:9292" => nil}, configuration.addresses) }
    assert_equal "config.ru", configuration.rackup
    assert_equal 0, configuration.workers
    assert_equal false, configuration.quiet
    assert_nil configuration.log
    assert_equal "common", configuration.log_format
    assert_empty configuration.server_options
  end

  def test_companions
    configuration = load(%(companion "bin/jobs", "-v"; companion "bin/mail"))

    assert_equal [%w[bin/jobs -v], %w[bin/mail]], configuration.companions
  end

  def test_folders_of_files
    assert_equal ["/a", "/b"], load(%(x_sendfile "/a", "/b")).x_sendfile
    assert_equal ["/a"], load(%(x_sendfile "/a")).x_sendfile
    assert_equal({"/internal/" => "/a"}, load(%(x_accel "/internal/" => "/a")).x_accel)
    assert_nil load("").x_sendfile
  end

  def test_a_log_format_by_a_symbol
    assert_equal "json", load("log_format :json").log_format
  end

  def test_a_file
    configuration = load(<<~RUBY)
      bind "unix:///tmp/app.sock"
      bind "ssl://127.0.0.1:1", certificate: "c", key: "k"
      port 8080
      workers 2
      rackup "app.ru"
      quiet true
      log "access.log"
      control "tcp://127.0.0.1:9394"
      shutdown_timeout 5
      request_timeout 30
      max_body nil
      secure true
      early_hints true
      worker_timeout 7
      pidfile "app.pid"
      tag "app"
      on_boot { :booted }
      on_shutdown { :shut_down }
      before_fork { :forked }
    RUBY

    in_environment("RACK_ENV" => "production") do
      assert_equal({
        "unix:///tmp/app.sock" => nil,
        "ssl://127.0.0.1:1" => {certificate: "c", key: "k"},
        "tcp://0.0.0.0:8080" => nil
      }, configuration.addresses)
    end
    assert_equal [2, "app.ru", true, "access.log", 5],
      %i[workers rackup quiet log shutdown_timeout].map { |name| configuration.public_send(name) }
    assert_equal "tcp://127.0.0.1:9394", configuration.control
    assert_equal({request_timeout: 30, max_body: nil, secure: true, early_hints: true}, configuration.server_options)
    assert_equal 7, configuration.cluster_options[:worker_timeout]
    assert_equal :forked, configuration.cluster_options[:before_fork].call
    assert_equal %w[app.pid app], [configuration.pidfile, configuration.tag]
    assert_equal [:shut_down], configuration.shutdown_hooks.map(&:call)
    assert_equal [:booted], configuration.boot_hooks.map(&:call)
  end

  # What one develops is not for the network.
  def test_the_host_depends_on_the_environment
    texts = {"" => 9292, "port 80" => 80}
    {{} => "127.0.0.1", {"RACK_ENV" => "development"} => "127.0.0.1", {"RACK_ENV" => "staging"} => "0.0.0.0",
     {"RAILS_ENV" => "production"} => "0.0.0.0",
     {"APP_ENV" => "development", "RACK_ENV" => "production"} => "127.0.0.1"}.each do |variables, host|
      in_environment(variables) do
        texts.each { |text, port| assert_equal ["tcp://#{host}:#{port}"], load(text).addresses.keys, variables.inspect }
      end
    end
    in_environment do
      assert_equal ["tcp://0.0.0.0:80"], load("port 80; environment 'production'").addresses.keys
      assert_equal ["tcp://127.0.0.2:80"], load("port 80, '127.0.0.2'").addresses.keys
      assert_equal "development", load("").rack_env
    end
  end

  def test_urls
    assert_equal %w[http://127.0.0.1:80 https://[::1]:443 unix:///run/tcp:],
      %w[tcp://127.0.0.1:80 ssl://[::1]:443 unix:///run/tcp:].map { |address| Configuration.url(address) }
  end

  def test_a_file_that_cannot_be_used_says_where
    ["\nthreads 5", "\nbind", "\nport 'x'", "\n(", "\nworkers(-1)", "\nNoSuch.thing"].each do |text|
      assert_match(/\A\S+pelton.*\.rb:2: /, refusal(text), text)
    end
    assert_raises(Configuration::Invalid) { Configuration.new.load("/no/such/file") }
    assert_raises(Configuration::Invalid) { Configuration.new.load("/") }
  end

  def test_a_setting_that_is_not_known_is_named
    assert_match(/rb:1: there is no setting threads\z/, refusal("threads 5, 5"))
    assert_match(/rb:1: there is no setting foo\z/, refusal("foo"))
    assert_match(/rb:1: there is no setting wokers; did you mean workers\?\z/, refusal("wokers 2"))
  end

  # Any error of the file's is one line.
  def test_what_the_file_raises_is_said_with_its_line
    {
      "require 'no_such_gem'" => "cannot load such file -- no_such_gem: add the gem to your Gemfile, or correct the " \
        "name",
      "ENV.fetch('NO_SUCH')" => "key not found: \"NO_SUCH\"",
      "raise 'one\ntwo'" => "one", "Integer('x')" => "invalid value for Integer(): \"x\"",
      "raise NotImplementedError, 'later'" => "later"
    }.each { |text, message| assert_match(/rb:2: #{Regexp.escape(message)}\z/, refusal("\n#{text}"), text) }
  end

  def test_numbers_may_be_text
    configuration =
      load("workers '2'; shutdown_timeout '1.5'; concurrency '7'; boot_timeout '9'; max_body nil; shutdown_timeout nil")

    assert_equal 2, configuration.workers
    assert_equal({concurrency: 7, max_body: nil}, configuration.server_options)
    assert_equal 9, configuration.cluster_options[:boot_timeout]
    assert_nil configuration.shutdown_timeout
  end

  def test_what_is_no_number
    ["workers 'x'", "workers(-1)", "workers 1.5", "workers nil", "idle_timeout(-1)", "shutdown_timeout 'soon'",
      "concurrency :many"].each do |text|
      assert_match(/rb:1: #{text[/\w+/]}: must be an? /, refusal(text))
    end
  end

  def test_what_is_no_port
    ["'x'", "70_000", "-1", "nil", "''"].each do |text|
      assert_match(/rb:1: a port is 0 to 65535, not #{Regexp.escape(instance_eval(text).inspect)}\z/,
        refusal("port(#{text})"))
    end
  end

  def test_certificates_belong_to_ssl_alone
    assert_match(/give it a certificate/, refusal("bind 'ssl://127.0.0.1:1'"))
    assert_match(/certificate: only ssl/, refusal("bind 'tcp://127.0.0.1:1', certificate: 'c'"))
    assert_equal({sni: 1}, load("bind 'ssl://127.0.0.1:1', sni: 1").addresses.values.first)
  end

  def test_options_behind_an_address
    configuration = load("bind 'unix:///run/app.sock?mode=660'; bind 'ssl://127.0.0.1:1?cert=c&key=k', verify: true")

    assert_equal({"unix:///run/app.sock" => nil, "ssl://127.0.0.1:1" => {certificate: "c", key: "k", verify: true}},
      configuration.binds)
    assert_equal({"/run/app.sock" => 0o660}, configuration.modes)
    assert_match(/password: give cert, key, ca, mode/, refusal("bind 'ssl://127.0.0.1:1?password=x'"))
    assert_empty configuration.clear_binds.flat_map(&:to_a)
  end

  def test_sizes
    configuration = load("max_body '10M'; cache '1g'; spool '64KB'; max_head '9'; worker_memory '512M', after: 10")

    assert_equal({max_body: 10 << 20, cache: 1 << 30, spool: 64 << 10, max_head: 9}, configuration.server_options)
    assert_equal({memory: 512 << 20, memory_after: 10}, configuration.cluster_options)
    ["max_body '1T'", "worker_memory 'x'", "worker_memory '1M', after: -1", "max_requests '1K'"].each do |text|
      assert_match(/must be a number/, refusal(text))
    end
  end

  def test_pubsub
    assert_equal "rediss://cache/1", load("pubsub 'rediss://cache/1'").pubsub
    error = assert_raises(Configuration::Invalid) { load("pubsub 'mysql://root:secret@host'") }

    assert_match(/pubsub: must be redis:/, error.message)
    refute_match(/secret/, error.message)
  end

  def test_health
    configuration = load("live_path '/live'; ready_path '/ready'; ready(timeout: 2) { :yes }")

    assert_equal "/live", configuration.live_path
    assert_equal "/ready", configuration.ready_path
    assert_equal :yes, configuration.readiness.first.call
    assert_equal 2, configuration.readiness.last
    assert_equal 0.9, load("ready {}").readiness.last
    assert_nil load("").readiness
    assert_match(/must be a path such as/, refusal("ready_path 'ready'"))
    assert_match(/ready needs a block/, refusal("ready"))
  end

  def test_the_permissions_of_a_unix_socket
    assert_equal({"/run/app.sock" => 0o660}, load("bind 'unix:///run/app.sock', mode: 0o660").modes)
    assert_match(/mode: only unix/, refusal("bind 'tcp://127.0.0.1:1', mode: 0o660"))
  end

  def refusal(text) = assert_raises(Configuration::Invalid) { load(text) }.message
end
