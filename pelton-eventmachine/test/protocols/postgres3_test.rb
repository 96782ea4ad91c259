# frozen_string_literal: true

require "digest"
require_relative "../helper"

# With a server of a few messages; integration/eventmachine_postgres_test.rb has a real one.
class EventMachinePostgres3Test < EventMachineTest
  OK = [0].pack("N")
  READY = ["Z", "I"].freeze
  ROWS = [["T", ["a", 0, 0, 23, 4, -1, 0].pack("Z*NnNs>l>n").then { |field| [1].pack("n") << field }],
    ["D", [1, 1, "7"].pack("nNa*")], ["D", [1, -1].pack("nl>")], ["C", "SELECT 2\0"], READY].freeze

  def test_a_query
    log = []
    talk([["R", OK], READY], ROWS) do |db|
      db.connect("db", "me").callback { |*status| log << status }
      db.query("select").callback { |*answer| EM.stop.then { log << answer } }
    end

    assert_equal [true], log[0]
    assert_equal true, log[1][0]
    assert_equal [["7"], [nil]], log[1][1].rows
    assert_equal "SELECT 2", log[1][1].cmd_tag
    assert_equal "a", log[1][1].fields[0].name
    assert_equal 23, log[1][1].fields[0].type_oid
    assert_equal [], log[1][2]
  end

  def test_a_query_may_follow_in_the_callback
    seen = []
    sent = talk([["R", OK], READY], ROWS, ROWS) do |db|
      db.connect("db", "me")
      db.query("first").callback do |_, first|
        seen << first.rows.size
        db.query("second").callback { |_, second| EM.stop.then { seen << second.rows.size } }
      end
    end

    assert_equal [2, 2], seen
    assert_equal ["first\0", "second\0"], sent.drop(1).map(&:last)
  end

  def test_passwords
    {
      [3].pack("N") => "secret\0",
      [5].pack("N") + "salt" => "md5#{Digest::MD5.hexdigest(Digest::MD5.hexdigest("secretme") + "salt")}\0"
    }.each do |asked, answer|
      sent = talk([["R", asked]], [["R", OK], READY]) do |db|
        db.connect("db", "me", "secret").callback { |status,| EM.stop if status }
      end

      assert_equal ["p", answer], sent.last
    end
  end

  # Postgres3ScramTest has the whole exchange.
  def test_a_login_by_scram_begins
    sent = talk([["R", [10].pack("N") + "SCRAM-SHA-256\0\0"]], [["E", "SFATAL\0Menough\0\0"]]) do |db|
      db.connect("db", "me", "secret").callback { EM.stop }
    end

    assert_equal "p", sent.last[0]
    assert_match(/\ASCRAM-SHA-256\0/, sent.last[1])
  end

  def test_a_login_that_is_refused
    outcomes = [["E", "SFATAL\0Mno such user\0\0"], ["R", [7].pack("N")]].map do |message|
      outcome = nil
      talk([message]) { |db| db.connect("db", "me").callback { |*status| EM.stop.then { outcome = status } } }
      outcome
    end

    assert_equal [false, "FATAL: no such user"], outcomes[0]
    assert_equal false, outcomes[1].first
  end

  def test_an_error_is_no_success
    outcome = nil
    talk([["R", OK], READY], [["E", "SERROR\0C42601\0Mwrong\0\0"], READY]) do |db|
      db.connect("db", "me")
      db.query("selekt").callback { |*answer| EM.stop.then { outcome = answer } }
    end

    assert_equal false, outcome[0]
    assert_equal [], outcome[1].rows
    assert_equal "ERROR: wrong", outcome[2][0].to_s
    assert_equal "42601", outcome[2][0].fields["C"]
  end

  def test_a_closed_connection_answers_pending_queries
    log = []
    closing = handler(receive_data: ->(_) { close_connection })
    em do
      db = EM.connect("127.0.0.1", serve(closing), EM::P::Postgres3)
      db.connect("db", "me").callback { |*status| log << status }
      db.query("select").callback { |*status| EM.stop.then { log << status } }
    end

    assert_equal [[false, "lost connection"]] * 2, log
  end

  def test_a_text_with_a_nul_byte_raises
    db = EM::P::Postgres3.allocate.tap { |client| client.__send__(:initialize) }

    assert_raises(ArgumentError) { db.query("a\0b") }
    assert_raises(ArgumentError) { db.connect("a\0b", "me") }
  end

  private

  # Runs a server that answers each message with the next group of messages.
  #
  # @return [Array] the type and the body of each message that it received
  def talk(*answers)
    sent = []
    server = handler(receive_data: lambda do |data|
      sent << data.unpack("aNa*").values_at(0, 2)
      answers.shift&.each { |type, body| send_data([type, body.bytesize + 4, body.b].pack("aNa*")) }
    end)
    em { yield EM.connect("127.0.0.1", serve(server), EM::P::Postgres3) }
    sent
  end
end
