# frozen_string_literal: true

require_relative "support/sequel_databases"
require "pelton/sequel/command"

class SequelMigrationsTest < PeltonTest
  include SequelDatabases

  def setup
    @migrations_folder = Dir.mktmpdir("pelton-sequel-")
    (1..3).each do |i|
      File.write("#{@migrations_folder}/00#{i}_table.rb",
        "Sequel.migration { change { create_table(:t#{i}) { Integer :n } } }")
    end
    @database = connect
    @migrations = Pelton::Sequel::Migrations.new(@database, @migrations_folder)
  end

  def test_pending_ones_are_applied_in_order_and_told
    events = []
    assert_equal %w[001_table.rb 002_table.rb 003_table.rb],
      @migrations.migrate { |event, name| events << [event, name] }

    assert_equal [[:begun, "001_table.rb"], [:done, "001_table.rb"]], events.first(2)
    assert_equal 6, events.size
    assert_equal [], @migrations.pending
    assert_equal %i[t1 t2 t3], @database.tables - [:schema_migrations]
  end

  def test_one_that_was_interrupted_is_unfinished
    assert_nil @migrations.unfinished
    notes = Pelton::Sequel::Migrations::Unfinished.new(@database)
    assert_raises(Interrupt) { notes.note("001_table.rb", :up) { raise Interrupt } }

    assert_equal "001_table.rb", @migrations.unfinished
  end

  def test_the_last_ones_are_taken_back
    @migrations.migrate

    assert_equal %w[003_table.rb 002_table.rb], @migrations.rollback(2)
    assert_equal %w[001_table.rb], @migrations.applied
    assert_equal %w[001_table.rb], @migrations.rollback(9)
    assert_empty @migrations.rollback
  end

  def test_a_missing_file_is_an_error
    @migrations.migrate
    FileUtils.rm("#{@migrations_folder}/001_table.rb")
    File.write("#{@migrations_folder}/004_table.rb", "Sequel.migration { change { create_table(:t4) { Integer :n } } }")

    assert_match(/cannot be applied/,
      assert_raises(Pelton::Sequel::Migrations::Failed) do
        Pelton::Sequel::Migrations.new(@database, @migrations_folder).migrate
      end.message)
  end

  def test_an_empty_folder
    assert_match(/there are no migrations in/,
      assert_raises(Pelton::Sequel::ConfigurationError) do
        Pelton::Sequel::Migrations.new(@database, Dir.mktmpdir)
      end.message)
  end
end
