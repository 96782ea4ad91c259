# frozen_string_literal: true

require "tmpdir"
require_relative "test_helper"
require "pelton"

class RequiresTest < PeltonTest
  def test_a_gem_that_is_missing_is_named
    error = assert_raises(LoadError) { Pelton.require_gem("pelton/nothing", "add gem \"nothing\"") }

    assert_equal "add gem \"nothing\"", error.message
    assert_nil error.cause
    assert_nil Pelton.require_gem("set", "")
  end

  # Then the gem is there, and its own message helps.
  def test_a_gem_that_misses_something_itself
    Dir.mktmpdir do |folder|
      File.write("#{folder}/half_a_gem.rb", "require 'the_other_half'")
      $LOAD_PATH.unshift(folder)
      error = assert_raises(LoadError) { Pelton.require_gem("half_a_gem", "add gem") }

      assert_equal "the_other_half", error.path
    ensure
      $LOAD_PATH.delete(folder)
    end
  end

  def test_a_part_that_is_not_required_names_its_require
    output = ruby_output(<<~RUBY)
      require "pelton"
      [-> { Pelton::HTTP.get("http://127.0.0.1/") }, -> { Pelton::HTTP::Server.new(nil) },
        -> { Pelton::Memcached::Client.new }, -> { Pelton::Cluster },
        -> { Pelton::Test }, -> { Pelton::Nothing }].each do |call|
        call.call
      rescue NameError => error
        puts error.message.lines.first
      end
      require "pelton/http"
      require "pelton/memcached"
      puts Pelton::HTTP::Server, Pelton::Memcached::Client
    RUBY

    assert_equal <<~TEXT, output
      Pelton::HTTP needs its own require: require "pelton/http"
      Pelton::HTTP needs its own require: require "pelton/http"
      Pelton::Memcached needs its own require: require "pelton/memcached"
      Pelton::Cluster needs its own require: require "pelton/cluster"
      Pelton::Test needs its own require: require "pelton/test"
      uninitialized constant Pelton::Nothing
      Pelton::HTTP::Server
      Pelton::Memcached::Client
    TEXT
  end
end
