# frozen_string_literal: true

require_relative "../support/sequel_databases"
require "pelton/sequel/command"

class SequelMigrationsUnfinishedTest < PeltonTest
  include SequelDatabases

  def setup
    @database = connect
    @notes = Pelton::Sequel::Migrations::Unfinished.new(@database)
  end

  def test_a_note_is_there_while_the_block_runs
    assert_nil @notes.find
    found = @notes.note("1_a.rb", :up) { @notes.find }

    assert_equal ["1_a.rb", "up"], found.values_at(:filename, :direction)
    assert_match(/ by process #{Process.pid} on /, found[:begun])
    assert_empty @database.tables
  end

  def test_an_error_ends_it
    assert_raises(IOError) { @notes.note("1_a.rb", :up) { raise IOError } }

    assert_empty @database.tables
  end

  def test_a_process_that_is_interrupted_leaves_it
    assert_raises(Interrupt) { @notes.note("1_a.rb", :down) { raise Interrupt } }

    assert_equal "1_a.rb", @notes.find[:filename]
    @notes.forget
    assert_nil @notes.find
  end
end
