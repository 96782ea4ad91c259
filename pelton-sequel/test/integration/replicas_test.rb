# frozen_string_literal: true

require "pg"
require "trilogy"
require_relative "../support/own_server"
require_relative "../support/sequel_databases"

# Databases of one server stand for the primary and its replicas, so each shows by its name who has answered.
class DatabaseReplicasTest < PeltonTest
  include SequelDatabases

  def setup
    @admin = connect(postgres_address)
    %w[one two].each do |name|
      @admin.run("CREATE DATABASE #{name}") unless @admin.from(:pg_database).where(datname: name).any?
    end
    @replicas = %w[one two].map { |name| postgres_address.sub(%r{/postgres\z}, "/#{name}") }
    [postgres_address, *@replicas].each { |address| connect(address).create_table!(:written) { Integer :n } }
  end

  def test_reads_go_to_the_replicas_and_writes_to_the_primary
    database = connect(postgres_address, replicas: @replicas, pool: 4)
    Pelton.run do
      names = Pelton.map([1, 2, 3, 4], concurrency: nil) do
        database.fetch("SELECT current_database() AS name, pg_sleep(0.05)").first[:name]
      end
      assert_equal %w[one two], names.uniq.sort
      Pelton.spawn { database[:written].insert(n: 1) }.await
      assert_equal %w[one two], Pelton.map([1, 2, 3, 4], concurrency: nil) { name_of(database) }.uniq.sort
    end

    assert_equal 1, @admin[:written].count
  end

  def test_who_has_written_reads_from_the_primary_for_a_while
    database = connect(postgres_address, replicas: @replicas, sticky: 1)
    Pelton.run do
      Pelton.spawn do
        database[:written].insert(n: 1)
        assert_equal "postgres", name_of(database)
        assert_includes %w[one two], Pelton.spawn { name_of(database) }.await
        sleep 0.01 until %w[one two].include?(name_of(database))
      end.await
    end
  end

  # Merged with others, it would be asked of a replica, which does not know the row.
  def test_who_has_written_finds_alone
    [postgres_address, *@replicas].each do |address|
      connect(address).create_table!(:written) { Integer :n, primary_key: true }
    end
    database = connect(postgres_address, replicas: @replicas, pool: 4)
    model = Class.new(Sequel::Model(database[:written])) do
      plugin :pelton_merging
      unrestrict_primary_key
    end
    Pelton.run do
      Pelton.spawn { model[1] }.await # the table's columns and indexes are read, which marks the fiber
      writer = Pelton.spawn { model.create(n: 1) && model[1]&.n }
      readers = Array.new(3) { Pelton.spawn { model[1] } }
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
    Pelton.run do
      assert_equal %w[one], Pelton.map([1, 2, 3], concurrency: nil) { Pelton.spawn { name_of(database) }.await }.uniq
    end
  end

  def test_the_primary_answers_where_no_replica_does
    gone = postgres_address.sub(/:(\d+)/, ":#{free_port}")
    Pelton.logger = log = StringIO.new
    database = connect(postgres_address, replicas: [gone])
    Pelton.run { assert_equal %w[postgres] * 3, Array.new(3) { Pelton.spawn { name_of(database) }.await } }
    assert_equal 1, log.string.scan("The primary answers in its place").size
    none = connect(postgres_address, replicas: [gone], replica_fallback: false)
    error = Pelton.run { assert_raises(Pelton::Sequel::ConnectionError) { Pelton.spawn { name_of(none) }.await } }

    assert_includes error.message, gone
  ensure
    Pelton.logger = $stderr
  end

  def test_several_hosts_of_one_address
    address = postgres_address.sub(%r{@[^/]*}) { |host| "@127.0.0.1:#{free_port},#{host.delete_prefix("@")}" }

    assert_equal "postgres", name_of(connect(address))
    assert_equal("postgres", Pelton.run { name_of(connect(address)) })
  end

  # It takes connections, and says nothing.
  def test_a_replica_that_is_silent_is_left_out
    server = TCPServer.new("127.0.0.1", 0)
    silent = postgres_address.sub(/:\d+/, ":#{server.addr[1]}")
    database = connect(postgres_address, replicas: [silent, @replicas.first], timeout: 0.6)
    Pelton.run do
      assert_equal %w[one] * 4, Pelton.map([1, 2, 3, 4], concurrency: nil) { Pelton.spawn { name_of(database) }.await }
    end
    alone = connect(postgres_address, replicas: [silent], timeout: 0.6)

    Pelton.run { assert_equal "postgres", Pelton.spawn { name_of(alone) }.await }
  ensure
    server&.close
  end

  def test_a_read_whose_session_ends_is_asked_elsewhere
    database = connect(postgres_address, replicas: @replicas, pool: 4)
    Pelton.run do
      readers = Array.new(4) do
        Pelton.spawn { database.fetch("SELECT current_database() AS name, pg_sleep(0.3)").first[:name] }
      end
      busy = @admin.from(:pg_stat_activity).where(datname: %w[one two], state: "active")
      sleep 0.01 until Pelton.spawn { busy.count }.await == 4
      Pelton.spawn { busy.where(datname: "one").select_map(Sequel.function(:pg_terminate_backend, :pid)) }.await

      assert_empty readers.map(&:await) - %w[one two postgres]
    end
  end

  WRITES = [
    ->(log) { log.create(n: 1) }, ->(log) { log.dataset.returning(:n).insert(n: 1) },
    ->(log) { log.dataset.returning(:n).update(n: 1) }, ->(log) { log.dataset.returning(:n).where(n: 5).delete },
    ->(log) { log.dataset.import([:n], [[1]], return: :primary_key) },
    ->(log) { log.dataset.insert_conflict.returning(:n).insert(n: 1) },
    ->(log) { log.db["INSERT INTO logs (n) VALUES (1) RETURNING n"].all },
    ->(log) { log.db.fetch("WITH new AS (INSERT INTO logs (n) VALUES (1) RETURNING n) SELECT * FROM new").all },
    ->(log) { log.db[:new].with(:new, log.db[:logs].returning(:n).with_sql(:insert_sql, n: 1)).all },
    ->(log) { log.with_sql("UPDATE logs SET n = 3 RETURNING *").all },
    ->(log) {
      log.db.get(Sequel.function(:nextval, "logs_id_seq")) &&
        log.db.run("INSERT INTO logs (n) SELECT 1 WHERE current_database() = 'postgres'")
    }
  ].freeze

  def test_what_writes_goes_to_the_primary_however_it_is_sent
    addresses = [postgres_address, *@replicas]
    logs = addresses.map { |address| connect(address) }
    logs.each { |one| one.create_table!(:logs) { primary_key :id; Integer :n } } # standard:disable Style/Semicolon
    log = Class.new(Sequel::Model(connect(postgres_address, replicas: @replicas, sticky: 0)[:logs]))
    Pelton.run { WRITES.each { |write| Pelton.spawn { write.call(log) }.await } }

    assert_equal [0, 0], logs.drop(1).map { |one| one[:logs].count }
    assert_operator logs.first[:logs].count, :>=, WRITES.size - 3
    assert_equal [1, 1], logs.drop(1).map { |one| one.fetch("SELECT nextval('logs_id_seq') AS n").first[:n] }
  end

  private

  # Connecting has marked the test's own fiber as one that used the primary; tasks begin without a mark.
  def name_of(database) = database.get(Sequel.function(:current_database))
end

class DatabaseMariaDBReplicasTest < PeltonTest
  include SequelDatabases

  # The number of a replica's session is another session's on the primary.
  def test_a_query_of_a_replica_is_ended_there
    replica = OwnServer.new(:mariadb)
    there = connect(replica.address)
    running = there.from(Sequel[:information_schema][:processlist]).where(Sequel.like(:info,
      "%SLEEP(61)%")).exclude(id: Sequel.function(:connection_id))
    database = connect(mariadb_address, replicas: [replica.address])
    Pelton.run do
      Pelton.spawn do
        assert_raises(Pelton::TimeoutError) { Pelton.timeout(0.3) { database.fetch("SELECT SLEEP(61)").all } }
      end.await
      sleep 0.01 until running.empty?
    end

    assert_equal "1", there.fetch("SHOW GLOBAL STATUS LIKE 'Com_kill'").first[:Value]
  ensure
    replica&.stop
  end
end
