# frozen_string_literal: true

require "net/http"
require "open3"
require_relative "../test_helper"

# The Sinatra applications of article 002, as the article prints them, but for the requires, the port, and @@memcache, which
# Ruby 3 forbids at top level.
class SinatraTest < PeltonTest
  EVENTED = File.read(File.join(ROOT, "pelton-lab/examples/articles/002_nonblocking.rb"))[/^AsyncResponse.*/m].sub("11211", "PORT")

  BLOCKING = <<~RUBY
    CACHE = MemCache.new 'localhost'

    get "/:name" do
      name = params[:name]
      CACHE.get(name)
    end
  RUBY

  # The gem memcache-client is no longer maintained; this is its get.
  MEMCACHE = <<~'RUBY'
    class MemCache
      def initialize(host) = @client = Pelton::Memcached::Client.new("#{host}:#{PORT}", serializer: nil)

      def get(name) = @client.get(name)
    end
  RUBY

  VALUE = ("b64" * 400_000)[0, 1_024_000].freeze

  def test_the_evented_broker
    broker("require 'pelton/eventmachine'", EVENTED) { |port| assert_served(port) }
  end

  def test_the_blocking_broker
    broker("require 'pelton/memcached'", "#{MEMCACHE}\n#{BLOCKING}") { |port| assert_served(port) }
  end

  # Behaves like a server that has no async.callback.
  def test_stream_without_eventmachine
    served("", <<~RUBY) do |port|
      get("/parts") { stream { |out| 3.times { |i| (out << i.to_s) && sleep(0.001) } } }
      get("/open") { stream(:keep_open) { |out| Pelton.add_timer(0.01) { (out << "late") && out.close } } }
      get("/thread") { stream(:keep_open) { |out| Thread.new { (out << "other") && out.close }.join } }
      get("/broken") { stream { |out| (out << "x") && raise("within a stream") } }
    RUBY
      assert_equal %w[012 late other], %w[parts open thread].map { |path| Net::HTTP.get("127.0.0.1", "/#{path}", port) }
      assert_raises(EOFError, Errno::ECONNRESET) { Net::HTTP.get("127.0.0.1", "/broken", port) }
    end
  end

  private

  def assert_served(port)
    answers = Array.new(10) { Thread.new { Net::HTTP.get_response("127.0.0.1", "/test", port) } }.map(&:value)

    assert_equal ["200"], answers.map(&:code).uniq
    assert_equal [VALUE], answers.map(&:body).uniq
  end

  def broker(requires, application, &block)
    with_memcached do |memcached|
      fill(memcached)
      served("#{requires}\nPORT = #{memcached}", application, &block)
    end
  end

  def served(requires, application)
    Dir.mktmpdir do |dir|
      File.write("#{dir}/app.rb", <<~RUBY)
        require "sinatra"
        #{requires}
        disable :run, :logging
        set :environment, :production
        #{application}
      RUBY
      File.write("#{dir}/config.ru", "require_relative 'app'\nrun Sinatra::Application")
      command = [{"RUBYLIB" => Children::LIBRARIES}, RbConfig.ruby, File.join(ROOT, "exe/pelton"), "serve", "#{dir}/config.ru", "-b", "tcp://127.0.0.1:0"]
      Open3.popen2e(*command) do |_, output, process|
        line = output.gets
        yield Integer(line[/:(\d+) /, 1])
      rescue TypeError
        flunk "#{line}#{output.read_nonblock(10_000)}"
      ensure
        Process.kill("TERM", process.pid)
        process.value
      end
    end
  end

  def fill(port)
    socket = TCPSocket.new("127.0.0.1", port)
    socket.write("set test 0 0 #{VALUE.bytesize}\r\n#{VALUE}\r\n")

    assert_equal "STORED\r\n", socket.gets
  ensure
    socket.close
  end
end
