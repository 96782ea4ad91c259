# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/http/scripts"
require "pelton/http"

class ClientPoolTest < PeltonTest
  include HTTPScripts

  def test_an_idle_connection_is_kept_for_so_long
    server = script { ok }
    client = Pelton::HTTP::Client.new(server.url, keep_alive: 0)
    2.times { client.get("/") }

    assert_equal 2, server.connections
  end

  # With a stand-in; the real one is in downstream/integrations/webmock_test.rb.
  def test_a_library_that_stubs_requests_and_comes_after_the_client
    server = script { ok("real") }
    assert_equal "real\nWebMock is asked: get\n", ruby_output(<<~RUBY, server.url)
      require "pelton/http"
      client = Pelton::HTTP::Client.new(ARGV.first, keep_alive: 0)
      puts client.get("/").body
      module WebMock
        class HttpLibAdapter
          def self.adapter_for(_) = nil
        end

        module HttpLibAdapters
          module NetHttpAdapter
            OriginalNetHTTP = nil
          end
        end

        module RequestSignature
          def self.new(method, *) = raise("WebMock is asked: \#{method}")
        end
      end
      module Net
        HTTP = Module.new
      end
      begin
        client.get("/")
      rescue => error
        puts error.message
      end
    RUBY
    assert_equal 1, server.seen.size
  end

  # As a trap handler does that waits while an origin is made.
  def test_requests_that_make_the_same_origin_at_once
    made = 0
    slowly = Module.new do
      define_method(:new) do |*arguments|
        made += 1
        sleep 0.005
        super(*arguments)
      end
    end
    server = script { ok }
    client = Pelton::HTTP::Client.new(server.url, concurrency: 2)
    Pelton.run do
      client.get("/")
      client.close
      origins = Pelton::HTTP::ClientPool.const_get(:Origin)
      origins.singleton_class.prepend(slowly)
      tasks = Array.new(3) { Pelton.spawn { client.get("/").ok? } }

      assert_equal [true] * 3, tasks.map(&:await)
    ensure
      slowly.send(:remove_method, :new)
    end
    assert_equal 3, made
    assert_operator client.stats[:open], :<=, 2
  end

  # A second less than the server: what is sent as it closes is lost.
  def test_a_server_may_say_for_how_long
    {"timeout=1, max=100" => 2, "timeout=100" => 1, "max=5" => 1, "timeout=soon" => 1}.each do |said, connections|
      server = script { ok("", "Keep-Alive: #{said}\r\n") }
      client = Pelton::HTTP::Client.new(server.url)
      2.times { client.get("/") }

      assert_equal connections, server.connections, said
    end
  end

  def test_what_nobody_asks_for_again_is_closed_in_time
    server = script { ok }
    client = Pelton::HTTP::Client.new(keep_alive: 0, proxy: server.url)
    3.times { |number| client.get("http://#{number}.test/") }

    assert_operator client.stats[:open], :<=, 1
  end

  def test_what_is_idle_for_too_long_is_closed_though_nobody_asks_for_anything
    server = script { ok }
    Pelton.run do
      client = Pelton::HTTP::Client.new(server.url, keep_alive: 0.01)
      2.times do
        client.get("/")
        eventually { client.stats[:open].zero? }
      end
    end
  end

  # Else its descriptor would wait for the client's next request.
  def test_what_its_server_has_closed_is_closed
    server = script { |_, socket| socket.write(ok) && :close }
    Pelton.run do
      client = Pelton::HTTP::Client.new(server.url, keep_alive: 1)
      client.get("/")
      eventually { client.stats[:open].zero? }
    end
  end

  # Otherwise this would hang.
  def test_idle_connections_keep_no_run_going
    server = script { ok }
    client = Pelton::HTTP::Client.new(server.url)
    2.times { Pelton.run { client.get("/") } }

    assert_equal 1, server.connections
    assert_equal({open: 1, idle: 1}, client.stats)
  end

  def test_there_are_not_too_many_idle_ones
    server = script { ok }
    Pelton.run do
      client = Pelton::HTTP::Client.new(proxy: server.url)
      url = ->(number) { "http://#{number}.test/" }
      (1..120).each { |number| client.get(url[number]) }
      assert_equal({open: 100, idle: 100}, client.stats)
      [120, 1].each { |number| client.get(url[number]) } # the first one was closed

      assert_equal 121, server.connections
      client.close
      assert_equal({open: 0, idle: 0}, client.stats)
    end
  end

  def test_the_last_to_be_used_is_the_next_one
    server = script { ok }
    Pelton.run do
      client = Pelton::HTTP::Client.new(server.url)
      Array.new(3) { client.later.get("/") }.each(&:await)
      used = Array.new(5) { client.get("/") && server.seen.last.connection }

      assert_equal 1, used.uniq.size
      assert_equal({open: 3, idle: 3}, client.stats)
    end
  end

  def test_who_waits_in_vain_is_told_why
    server = script { "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" }
    client = Pelton::HTTP::Client.new(server.url, concurrency: 1, pool_timeout: 0.01)
    response = client.get("/", stream: true)
    error = assert_raises(Pelton::TimeoutError) { client.get("/") }
    assert_match(/all 1 are in use.*close/, error.message)
    response.close

    assert_equal 200, client.get("/", stream: true).status
  end

  # Nobody can read them any more, or close them.
  def test_responses_that_were_forgotten
    server = script { "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" }
    [->(&block) { block.call }, Pelton.method(:run)].each do |inside|
      inside.call do
        client = Pelton::HTTP::Client.new(server.url, concurrency: 20)
        kept = client.get("/", stream: true)
        forget(client, 19)
        eventually { GC.start || client.get("/", stream: true, pool_timeout: 0.01) rescue nil } # standard:disable Style/RescueModifier

        assert_equal 200, kept.tap(&:close).status
      end
    end
  end

  # The collector of a child would try to give the parent's connections back.
  def test_responses_that_a_child_forgets
    server = script { "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" }
    client = Pelton::HTTP::Client.new(server.url, concurrency: 20)
    Pelton.run do
      forget(client, 19)
      reader, writer = IO.pipe
      pid = fork do
        $stderr.reopen(writer)
        GC.start
        exit!(0)
      end
      writer.close

      assert_empty reader.read
      Process.wait(pid)
    end
  end

  # The response is garbage, but its connection has been another one's for long.
  def test_a_connection_that_is_used_again_is_not_taken_away
    server = script { ok("x" * 5) }
    Pelton.run do
      client = Pelton::HTTP::Client.new(server.url, concurrency: 1)
      20.times { client.get("/", stream: true).each {} }
      response = client.get("/", stream: true)
      GC.start
      Pelton::Reactor.current.yield

      assert_equal "x" * 5, response.body
      assert_equal 1, server.connections
    end
  end

  # Where no reactor runs, older Rubies' Timeout is a throw.
  def test_whoever_leaves_a_request_by_a_throw_gives_its_connection_back
    server = script { |request, _| ok unless request.path == "/silent" }
    [->(&block) { block.call }, Pelton.method(:run)].each do |inside|
      inside.call do
        client = Pelton::HTTP::Client.new(server.url, concurrency: 1, pool_timeout: 0.01, expect: nil)
        catch(:left) { client.post("/", body: Enumerator.new { throw :left }) }
        assert_raises(Timeout::Error) { Timeout.timeout(0.02) { client.get("/silent") } }

        assert_equal({open: 0, idle: 0}, client.stats)
        assert_equal 200, client.get("/").status
      end
    end
  end

  def test_a_connection_that_cannot_be_made_takes_no_place
    client = Pelton::HTTP::Client.new("http://127.0.0.1:#{free_port}", concurrency: 1)

    3.times { assert_raises(Pelton::ConnectionError) { client.get("/") } }
    assert_equal({open: 0, idle: 0}, client.stats)
  end

  private

  def forget(client, number)
    number.times { client.get("/", stream: true) }
    nil
  end
end
