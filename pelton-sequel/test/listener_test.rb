# frozen_string_literal: true

require_relative "support/sequel_databases"

# What needs no server; the rest is in integration/listener_test.rb.
class SequelListenerWithoutServerTest < PeltonTest
  include SequelDatabases

  def test_other_databases_are_refused
    connect
    [-> { Pelton::Sequel.listen("news") {} }, -> { Pelton::Sequel.notify("news", "x") }].each do |call|
      error = assert_raises(Pelton::Sequel::ConfigurationError, &call)

      assert_equal "listen and notify need PostgreSQL, not sqlite", error.message
    end
  end

  def test_a_channel_and_a_block_are_needed
    connect
    assert_raises(ArgumentError) { Pelton::Sequel.listen("news") }
    assert_raises(ArgumentError) { Pelton::Sequel.listen {} }
  end
end
