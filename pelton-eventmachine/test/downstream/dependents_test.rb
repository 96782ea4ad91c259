# frozen_string_literal: true

require "test_helper"
require "support/databases"

# Gems that depend on EventMachine, each in a program like those of its users.
class DependentsTest < PeltonTest
  include Databases

  self.deadline = 60

  # The gems in this file come with EventMachine's name from this repository. RubyGems alone would look for EventMachine
  # among the installed gems.
  GEMFILE = File.join(ROOT, "gemfiles/downstream.rb")
  BUNDLED = File.read(GEMFILE).scan(/^gem "([^"]+)"/).flatten.freeze

  def test_em_synchrony
    output = on_pelton("em-synchrony", with_memcached, program: <<~RUBY)
      require "em-synchrony"
      require "em-synchrony/em-memcache"
      require "em-synchrony/em-multi"
      require "em-synchrony/fiber_iterator"

      def later(value)
        EM::DefaultDeferrable.new.tap { |deferrable| EM.add_timer(0.001) { deferrable.succeed(value) } }
      end

      EM.synchrony do
        cache = EM::P::Memcache.connect("127.0.0.1", Integer(ARGV[0]))
        p cache.set("k", "v"), cache.get("k"), cache.get("k", "none"), cache.get_hash("k", "none"),
          cache.delete("k"), cache.get("k")
        EM::Synchrony.sleep(0.001)
        p EM::Synchrony.sync(later(7))
        multi = EM::Synchrony::Multi.new
        2.times { |number| multi.add(number, later(number)) }
        p multi.perform.responses[:callback].keys
        seen = []
        EM::Synchrony::FiberIterator.new(1..5, 2).each { |number| EM::Synchrony.sleep(0.001).then { seen << number } }
        p seen.sort
        p EM::Synchrony::Iterator.new([1, 2, 3], 2)
          .map { |number, iterator| EM.add_timer(0.001) { iterator.return(number * 2) } }
        p EM::Synchrony.defer { 5 }
        p EM::Synchrony::ConnectionPool.new(size: 2) { "connection" }.execute(false, &:upcase)
        output, status = EM::Synchrony.system("sh", "-c", "echo hi; exit 3")
        p output, status.exitstatus
        p EM::Synchrony::Thread::Mutex.new.synchronize { 3 }
        EM::Synchrony.next_tick { EM::Synchrony.add_timer(0.001) { EM::Synchrony.sleep(0.001).then { EM.stop } } }
      end
      p :stopped
    RUBY

    assert_equal ["true", '"v"', '["v", nil]', '{"k"=>"v", "none"=>nil}', "true", "nil", "7", "[0, 1]",
      "[1, 2, 3, 4, 5]", "[2, 4, 6]", "5",
      '"CONNECTION"', '"hi\n"', "3", "3", ":stopped"], output
  end

  def test_em_http_request
    output = on_pelton("em-http-request", free_port, program: <<~'RUBY')
      require "em-http-request"
      require "pathname" # which em-http-request uses and does not require
      require "evma_httpserver"

      class Server < EM::Connection
        include EM::HttpServer

        def process_http_request
          response = EM::DelegatedHttpResponse.new(self)
          response.content = "#{@http_request_method} #{@http_path_info} #{@http_query_string} #{@http_post_content}"
          response.keep_connection_open
          response.send_response
        end
      end

      EM.run do
        EM.start_server("127.0.0.1", ARGV[0], Server)
        http = EM::HttpRequest.new("http://127.0.0.1:#{ARGV[0]}/")
        http.get(path: "/a", query: {x: 1}, keepalive: true).callback do |answer|
          p answer.response_header.status, answer.response
          http.post(path: "/b", body: StringIO.new("hello"), keepalive: true).callback do |second|
            p second.response
            http.post(path: "/c", body: "hello").callback do |third|
              p third.response.then { |text| EM.stop.then { text } }
            end
          end
        end
      end
    RUBY

    assert_equal ["200", '"GET /a x=1 "', '"POST /b  hello"', '"POST /c  hello"'], output
  end

  def test_em_websocket_and_faye_websocket
    output = on_pelton("em-websocket", "faye-websocket", free_port, program: <<~'RUBY')
      require "em-websocket"
      require "faye/websocket"

      EM.run do
        EM::WebSocket.start(host: "127.0.0.1", port: Integer(ARGV[0])) do |server|
          server.onopen { |handshake| server.send("welcome to #{handshake.path}") }
          server.onmessage { |text| server.send(text * 2) }
        end
        client = Faye::WebSocket::Client.new("ws://127.0.0.1:#{ARGV[0]}/room")
        client.on(:open) { client.send("a" * 100_000) }
        client.on(:message) { |event| p event.data.size.then { |size| client.close if size > 1000; size } }
        client.on(:close) { |event| p EM.stop.then { event.code } }
      end
    RUBY

    assert_equal %w[16 200000 1000], output
  end

  def test_em_hiredis
    output = on_pelton("em-hiredis", redis, program: <<~'RUBY')
      require "em-hiredis"

      EM.run do
        redis = EM::Hiredis.connect("redis://127.0.0.1:#{ARGV[0]}")
        redis.set("a", "1").callback do
          redis.get("a").callback do |value|
            p value
            redis.pubsub.subscribe("news") { |message| p EM.stop.then { message } }.callback do
              redis.publish("news", "hello")
            end
          end
        end
      end
    RUBY

    assert_equal ['"1"', '"hello"'], output
  end

  def test_em_redis
    output = on_pelton("em-redis", redis, program: <<~RUBY)
      require "em-redis"

      EM.run do
        redis = EM::Protocols::Redis.connect(host: "127.0.0.1", port: Integer(ARGV[0]))
        redis.set("b", "2") { redis.get("b") { |value| p EM.stop.then { value } } }
      end
    RUBY

    assert_equal ['"2"'], output
  end

  def test_eventmachine_tail
    output = on_pelton("eventmachine-tail", program: <<~RUBY)
      require "eventmachine-tail"
      require "tempfile"

      file = Tempfile.new("log")
      EM.run do
        EM.file_tail(file.path, nil, 0) { |_, line| p EM.stop.then { line } }
        EM.add_timer(0.05) { file.puts("hello") || file.flush }
      end
    RUBY

    assert_equal ['"hello"'], output
  end

  def test_amqp_reports_a_missing_broker
    output = on_pelton("amqp", free_port, program: <<~RUBY)
      require "amqp"

      EM.run do
        AMQP.connect(host: "127.0.0.1", port: Integer(ARGV[0]),
          on_tcp_connection_failure: ->(_) { p EM.stop.then { :failed } })
      end
    RUBY

    assert_equal [":failed"], output.grep(/failed\z/)
  end

  def test_thin
    output = on_pelton("thin", free_port, program: <<~'RUBY')
      require "thin"
      require "net/http"

      Thin::Logging.silent = true
      application = lambda do |env|
        next [200, {"content-type" => "text/plain"}, ["at once"]] unless env["PATH_INFO"] == "/later"
        EM.add_timer(0.001) { env["async.callback"].call([200, {}, ["later"]]) }
        throw :async
      end
      server = Thin::Server.new("127.0.0.1", Integer(ARGV[0]), application, signals: false)
      EM.run do
        server.start
        EM.add_timer(0.001) do
          p Net::HTTP.get(URI("http://127.0.0.1:#{ARGV[0]}/")), Net::HTTP.get(URI("http://127.0.0.1:#{ARGV[0]}/later"))
          server.stop!
          EM.stop
        end
      end
    RUBY

    assert_equal ['"at once"', '"later"'], output
  end

  # The gem's own extension is not loaded, because Pelton's file comes first on the load path.
  def test_the_tests_of_eventmachine_httpserver
    tests = Gem::Specification.dirs.flat_map do |folder|
      Dir[File.join(folder, "../gems/eventmachine_httpserver-*/test/test_*.rb")]
    end
    skip "the gem eventmachine_httpserver is not installed" if tests.empty?
    tests.each do |file|
      output, = run_ruby('gem "test-unit"; load ARGV.first', file, options: ["-W0", "-rpelton/eventmachine"],
        gems: true)

      assert_match(/^[1-9]\d* tests, [1-9]\d* assertions, 0 failures, 0 errors/, output)
    end
  end

  private

  # Runs the program with Pelton, if the gems are installed. The other arguments are the program's.
  #
  # @return [Array<String>] the lines of its output
  def on_pelton(*gems, program:)
    gems, arguments = gems.partition { |one| one.is_a?(String) }
    gems.each { |name| skip "the gem #{name} is not installed" unless installed?(name) }
    options = ["-W0", *("-rbundler/setup" if gems.all? { |name| BUNDLED.include?(name) }), "-rpelton/eventmachine"]
    output, errors, status = run_ruby(program, *arguments, env: {"BUNDLE_GEMFILE" => GEMFILE}, options: options,
      gems: true)
    assert status.success?, "#{output}\n#{errors}"
    output.lines(chomp: true)
  end

  def installed?(name)
    Gem.path.any? { |path| Dir[File.join(path, "specifications/#{name}-[0-9]*.gemspec")].any? }
  end
end
