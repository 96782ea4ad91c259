# frozen_string_literal: true

require "pg"
require "test_helper"
require "trilogy"
require_relative "../support/record_databases"

# Databases of one server stand for the primary and its replicas, so each shows by its name who has answered.
class RecordReplicasTest < PeltonTest
  include RecordDatabases

  def setup
    @admin = connect(postgres_address)
    %w[one two].each { |name| @admin.run("CREATE DATABASE #{name}") unless @admin.from(:pg_database).where(datname: name).any? }
    @replicas = %w[one two].map { |name| postgres_address.sub(%r{/postgres\z}, "/#{name}") }
    [postgres_address, *@replicas].each { |address| connect(address).create_table!(:written) { Integer :n } }
  end

  # What a fiber asks for later comes from where the fiber itself would read.
  def test_later_reads_what_the_fiber_has_written
    database = connect(postgres_address, replicas: @replicas, pool: 4)
    model = Class.new(Pelton::Record::Model) { self.table_name = "written" }
    Pelton.run do
      assert_equal 0, model.later.count.await
      model.insert_all([{n: 1}])

      assert_equal [1, 1], Array.new(2) { model.later.count.await }
      assert_includes %w[one two], Pelton.spawn { name_of(database) }.await
    end
  end

  def test_reads_go_to_the_replicas_and_writes_to_the_primary
    database = connect(postgres_address, replicas: @replicas, pool: 4)
    Pelton.run do
      names = Pelton.map([1, 2, 3, 4], limit: nil) { database.fetch("SELECT current_database() AS name, pg_sleep(0.05)").first[:name] }
      assert_equal %w[one two], names.uniq.sort
      Pelton.spawn { database[:written].insert(n: 1) }.await
      assert_equal %w[one two], Pelton.map([1, 2, 3, 4], limit: nil) { name_of(database) }.uniq.sort
    end

    assert_equal 1, @admin[:written].count
  end

  def test_who_has_written_reads_from_the_primary_for_a_while
    database = connect(postgres_address, replicas: @replicas, sticky: 0.2)
    Pelton.run do
      Pelton.spawn do
        database[:written].insert(n: 1)
        assert_equal "postgres", name_of(database)
        assert_includes %w[one two], Pelton.spawn { name_of(database) }.await
        sleep 0.25
        assert_includes %w[one two], name_of(database)
      end.await
    end
  end

  # Merged with others, it would be asked of a replica, which does not know the row.
  def test_who_has_written_finds_alone
    [postgres_address, *@replicas].each { |address| connect(address).create_table!(:written) { Integer :n, primary_key: true } }
    database = connect(postgres_address, replicas: @replicas, pool: 4)
    model = Class.new(Pelton::Record::Model) do
      self.table_name = "written"
      self.primary_key = "n"
    end
    model.db = database
    Pelton.run do
      Pelton.spawn { model.find_by(n: 1) }.await # the table's columns and indexes are read, which marks the fiber
      writer = Pelton.spawn { model.create!(n: 1) && model.find_by(n: 1)&.n }
      readers = Array.new(3) { Pelton.spawn { model.find_by(n: 1) } }
      assert_equal [1, nil, nil, nil], [writer, *readers].map(&:await)
    end
  end

  def test_a_transaction_is_the_primary_s
    database = connect(postgres_address, replicas: @replicas)
    Pelton.run { Pelton.spawn { assert_equal "postgres", database.transaction { name_of(database) } }.await }
  end

  def test_a_replica_that_is_gone_is_left_out
    gone = postgres_address.sub(/:\d+/, ":#{free_port}")
    database = connect(postgres_address, replicas: [gone, @replicas.first])
    Pelton.run { assert_equal %w[one], Pelton.map([1, 2, 3], limit: nil) { Pelton.spawn { name_of(database) }.await }.uniq }

    none = connect(postgres_address, replicas: [gone])
    Pelton.run { assert_raises(Pelton::Record::ConnectionError) { Pelton.spawn { name_of(none) }.await } }
  end

  private

  # Connecting has marked the test's own fiber as one that used the primary; tasks begin without a mark.
  def name_of(database) = database.get(Sequel.function(:current_database))
end
