# frozen_string_literal: true

require_relative "support/record_databases"

# What needs no server; the rest is in integration/listener_test.rb.
class RecordListenerWithoutServerTest < PeltonTest
  include RecordDatabases

  def test_other_databases_are_refused
    connect
    [-> { Pelton::Record.listen("news") {} }, -> { Pelton::Record.notify("news", "x") }].each do |call|
      error = assert_raises(Pelton::Record::ConfigurationError, &call)

      assert_equal "listen and notify need PostgreSQL, not sqlite", error.message
    end
  end

  def test_a_channel_and_a_block_are_needed
    assert_raises(ArgumentError) { Pelton::Record.listen("news") }
    assert_raises(ArgumentError) { Pelton::Record.listen {} }
  end
end
