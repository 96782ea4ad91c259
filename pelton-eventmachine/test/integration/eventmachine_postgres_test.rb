# frozen_string_literal: true

require "open3"
require "pg"
require_relative "../helper"
require "support/databases"

# EM::P::Postgres3 against a real server.
class EventMachinePostgresTest < EventMachineTest
  include Databases

  def setup = postgres # before there is a loop

  def test_queries
    log = []
    logged_in do |db|
      db.query("select 1 as a, 'x'::text as b, null::int as c union all select 2, 'y', 3").callback do |*answer|
        log << answer
        db.query("selekt").callback do |*second|
          log << second
          db.query("create temp table t (i int); insert into t values (1), (2); select * from t").callback do |*third|
            EM.stop.then { log << third }
          end
        end
      end
    end

    assert_equal [true, false, true], log.map(&:first)
    assert_equal [[["1", "x", nil], ["2", "y", "3"]], [], [["1"], ["2"]]], log.map { |_, result| result.rows }
    assert_equal %w[a b c], log[0][1].fields.map(&:name)
    assert_match(/syntax error/, log[1][2].first.to_s)
  end

  def test_by_scram
    server = PG.connect(**postgres_options)
    server.set_notice_processor { nil }
    server.exec("set password_encryption = 'scram-sha-256'; drop role if exists scram; create role scram login " \
      "password 's\u00e9cret'")
    rules = server.exec("show hba_file").getvalue(0, 0)
    server.exec("copy (values ('host all scram 127.0.0.1/32 scram-sha-256'), ('host all all 127.0.0.1/32 trust')) to " \
      "'#{rules}'; select pg_reload_conf()")
    outcomes = ["s\u00e9cret", "wrong"].map { |password| login("scram", password) }

    assert_equal [[true], [false, "FATAL: password authentication failed for user \"scram\""]], outcomes
  ensure
    server&.close
  end

  def test_a_login_that_is_refused
    assert_equal [false, "FATAL: database \"nowhere\" does not exist"], login("postgres", nil, "nowhere")
  end

  private

  def connect = EM.connect("127.0.0.1", postgres, EM::P::Postgres3)

  def login(user, password, database = "postgres")
    status = nil
    em { connect.connect(database, user, password).callback { |*answer| EM.stop.then { status = answer } } }
    status
  end

  def logged_in
    em do
      db = connect
      db.connect("postgres", "postgres").callback { |status, message| status ? yield(db) : raise(message) }
    end
  end
end
