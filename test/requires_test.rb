# frozen_string_literal: true

require_relative "test_helper"

class RequiresTest < PeltonTest
  def test_a_part_that_is_not_required_names_its_require
    output = ruby_output(<<~RUBY)
      require "pelton"
      [-> { Pelton::HTTP.get("http://127.0.0.1/") }, -> { Pelton::HTTP::Server.new(nil) }, -> { Pelton::Memcached::Client.new }, -> { Pelton::Cluster },
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
