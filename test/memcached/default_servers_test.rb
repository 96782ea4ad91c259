# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/memcached"

# Each test runs a Ruby of its own, because a default server lives as long as its process.
class DefaultServersTest < PeltonTest
  def test_clients_without_servers_share_an_embedded_one
    assert_equal "value\nvalue\ntrue\n127.0.0.1\n", ruby_output(<<~RUBY, env: {"MEMCACHE_SERVERS" => nil})
      require "pelton/memcached"
      one = Pelton::Memcached::Client.new(timeout: 20)
      one.set("key", "value")
      puts one.get("key")
      Pelton.run do
        puts Pelton::Memcached::Client.new(timeout: 20).get("key")
      end
      other = Pelton::Memcached::Client.new(timeout: 20) # the reactor's end was not the server's
      puts other.get("key") == "value"
      puts other.server.host
    RUBY
  end

  def test_an_embedded_server_started_inside_a_reactor_outlives_it
    assert_equal "value\n", ruby_output(<<~RUBY, env: {"MEMCACHE_SERVERS" => nil})
      require "pelton/memcached"
      cache = Pelton.run { Pelton::Memcached::Client.new(timeout: 20).tap { |client| client.set("key", "value") } }
      puts cache.get("key")
    RUBY
  end

  def test_the_environment_overrides_the_embedded_server
    assert_equal "10.0.0.1:11211 10.0.0.2:11212\n",
      ruby_output(<<~RUBY, env: {"MEMCACHE_SERVERS" => "10.0.0.1, 10.0.0.2:11212,"})
        require "pelton/memcached"
        puts Pelton::Memcached::Client.new.servers.join(" ")
      RUBY
  end

  def test_a_child_gets_an_embedded_server_of_its_own
    assert_equal "nil\n\"value\"\n", ruby_output(<<~RUBY, env: {"MEMCACHE_SERVERS" => nil})
      require "pelton/memcached"
      $stdout.sync = true
      Pelton::Memcached::Client.new(timeout: 20).set("key", "value")
      Process.wait(fork { p Pelton::Memcached::Client.new(timeout: 20).get("key") })
      p Pelton::Memcached::Client.new(timeout: 20).get("key")
    RUBY
  end
end
