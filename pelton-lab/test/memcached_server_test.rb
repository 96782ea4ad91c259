# frozen_string_literal: true

require "test_helper"
require "io/wait"
require "pelton/lab"
require "pelton/lab/memcached_server"
require_relative "with_processes"

class LabMemcachedServerTest < PeltonTest
  include WithProcesses

  def with_path(path)
    before = ENV["PATH"]
    ENV["PATH"] = path
    yield
  ensure
    ENV["PATH"] = before
  end

  def test_an_installed_memcached_comes_first
    skip "no memcached" unless Pelton::Lab::Programs.find("memcached")

    assert_instance_of Pelton::Lab::MemcachedServer::Installed, Pelton::Lab::MemcachedServer.start(@processes, nil)
  end

  def test_where_none_is_installed_it_is_the_embedded_one
    server = with_path("/nowhere") { Pelton::Lab::MemcachedServer.start(@processes, nil) }

    assert_match(/embedded/, server.version)
  end

  def test_one_that_was_named_is_used
    server = Pelton::Lab::MemcachedServer.start(@processes, nil, "127.0.0.1:#{with_memcached}")

    assert_instance_of Pelton::Lab::MemcachedServer::Remote, server
  end
end
