# frozen_string_literal: true

require "net/http"
require "open3"
require_relative "../test_helper"

# The Sinatra applications of article 002, as they are printed there, but for the requires, the port, and @@memcache, which
# Ruby 3 forbids at top level.
class SinatraTest < PeltonTest
  EVENTED = File.read(File.join(ROOT, "examples/articles/002_nonblocking.rb"))[/^AsyncResponse.*/m].sub("11211", "PORT")

  BLOCKING = <<~RUBY
    CACHE = MemCache.new 'localhost'

    get "/:name" do
      name = params[:name]
      CACHE.get(name)
    end
  RUBY

  # memcache-client is long dead; its get was this.
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

  private

  def assert_served(port)
    answers = Array.new(10) { Thread.new { Net::HTTP.get_response("127.0.0.1", "/test", port) } }.map(&:value)

    assert_equal ["200"], answers.map(&:code).uniq
    assert_equal [VALUE], answers.map(&:body).uniq
  end

  def broker(requires, application)
    with_memcached do |memcached|
      fill(memcached)
      Dir.mktmpdir do |dir|
        File.write("#{dir}/broker.rb", <<~RUBY)
          require "sinatra"
          #{requires}
          PORT = #{memcached}
          disable :run, :logging
          set :environment, :production
          #{application}
        RUBY
        File.write("#{dir}/config.ru", "require_relative 'broker'\nrun Sinatra::Application")
        command = [RbConfig.ruby, "-I#{Children::LIB}", File.join(ROOT, "exe/pelton"), "serve", "#{dir}/config.ru", "-b", "tcp://127.0.0.1:0"]
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
  end

  def fill(port)
    socket = TCPSocket.new("127.0.0.1", port)
    socket.write("set test 0 0 #{VALUE.bytesize}\r\n#{VALUE}\r\n")

    assert_equal "STORED\r\n", socket.gets
  ensure
    socket.close
  end
end
