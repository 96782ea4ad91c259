# frozen_string_literal: true

require_relative "../support/http/peer"
require "pelton/http/rack_handler"
require "stringio"
require "tmpdir"

class HttpRackHandlerTest < PeltonTest
  include HttpPeer

  HANDLER = Object.new.extend(Pelton::HTTP::RackHandler)

  # Rails passes all of its options, and says which of them the user has set.
  RAILS = {user_supplied_options: [], Host: "localhost", Port: 3000, early_hints: nil, environment: "production"}.freeze

  def configured(file: nil, **options)
    Dir.mktmpdir do |folder|
      File.write("#{folder}/pelton.rb", file) if file
      Dir.chdir(folder) { HANDLER.send(:configuration, options) }
    end
  end

  def test_a_configuration_file_counts_and_what_the_user_says_counts_more
    file = 'bind "unix:///tmp/s"; log "requests.log"; idle_timeout 5'

    assert_equal ["tcp://localhost:3000"], configured(**RAILS).addresses.keys
    assert_equal ["unix:///tmp/s"], configured(file: file, **RAILS).addresses.keys
    assert_equal ["tcp://localhost:3001"],
      configured(file: file, **RAILS, user_supplied_options: [:Port], Port: 3001).addresses.keys
    assert_equal ["tcp://[::1]:9292"], configured(file: file, Host: "::1").addresses.keys
    assert_equal "requests.log", configured(file: file, **RAILS).log
    assert_equal File::NULL, configured(**RAILS).log
    assert_equal({idle_timeout: 5}, configured(file: file, **RAILS).server_options)
  end

  def test_workers_are_not_its_business
    log = StringIO.new
    Pelton.logger = log
    configured(file: "workers 2")

    assert_match(/pelton serve/, log.string)
  ensure
    Pelton.logger = $stderr
  end

  def hints(**options)
    seen = nil
    HANDLER.run(->(env) { HELLO.call(env.tap { seen = env.key?("rack.early_hints") }) }, Host: "127.0.0.1", Port: "0",
      **options) do |launcher|
      Pelton.spawn do
        Peer.new(TCPSocket.new("127.0.0.1", launcher.server.listeners.first.port)).tap { |peer| peer.get("/") }.close
        Process.kill("INT", Process.pid)
      end
    end
    seen
  end

  def test_rails_gets_early_hints_if_it_wants_them
    assert_equal false, hints(early_hints: nil)
    assert_equal true, hints(early_hints: true)
    assert_equal false, hints
    assert_equal true, hints(early_hints: "true")
  end

  def test_in_development_the_watchdog_has_patience
    before = Pelton.watchdog
    Pelton.watchdog = Pelton::Watchdog::DEFAULT
    hints(environment: "production")
    assert_equal Pelton::Watchdog::DEFAULT, Pelton.watchdog
    hints(environment: "development")
    assert_equal 1, Pelton.watchdog
  ensure
    Pelton.watchdog = before
  end

  def test_it_serves_with_rackups_options
    response = options = nil
    HANDLER.run(HELLO, Host: "127.0.0.1", Port: "0", concurrency: "5", request_timeout: "1.5") do |launcher|
      options = launcher.instance_variable_get(:@configuration).server_options
      Pelton.spawn do
        client = Peer.new(TCPSocket.new("127.0.0.1", launcher.server.listeners.first.port))
        response = client.get("/")
        client.close
        Process.kill("INT", Process.pid)
      end
    end

    assert_equal "hello", response.body
    assert_equal({concurrency: 5, request_timeout: 1.5}, options)
  end
end
