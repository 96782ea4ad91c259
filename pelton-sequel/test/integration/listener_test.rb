# frozen_string_literal: true

require "pg"
require "test_helper"
require_relative "../support/own_server"
require_relative "../support/sequel_databases"

class SequelListenerTest < PeltonTest
  include SequelDatabases

  self.deadline = 60

  def test_messages_arrive_in_order_from_another_process
    database = connect(postgres_address)
    got = []
    Pelton.run do
      listener = Pelton::Sequel.listen("news", "O'Hara \"x\"") { |payload, channel| got << [channel, payload] }
      eventually { listening?(database) }
      run_in_child { 3.times { |i| Pelton::Sequel.notify("news", "message #{i}") } }
      Pelton::Sequel.notify("O'Hara \"x\"")
      eventually { got.size == 4 }
      listener.cancel
    end

    assert_equal [["news", "message 0"], ["news", "message 1"], ["news", "message 2"], ["O'Hara \"x\"", ""]], got
  end

  def test_a_message_of_a_transaction_comes_with_its_commit
    database = connect(postgres_address)
    got = []
    Pelton.run do
      Pelton::Sequel.listen("news") { |payload| got << payload }
      eventually { listening?(database) }
      database.transaction { Pelton::Sequel.notify("news", "lost").then { raise Sequel::Rollback } }
      database.transaction { Pelton::Sequel.notify("news", "kept") }
      eventually { got.any? }
    end

    assert_equal ["kept"], got
  end

  def test_an_error_in_the_block_is_reported_and_the_next_message_comes
    database = connect(postgres_address)
    errors = []
    got = []
    Pelton.on_error { |error| errors << error.message }
    Pelton.run do
      Pelton::Sequel.listen("news") { |payload| (payload == "bad") ? raise("in the block") : got << payload }
      eventually { listening?(database) }
      %w[bad good].each { |payload| Pelton::Sequel.notify("news", payload) }
      eventually { got.any? }
    end

    assert_equal ["in the block"], errors
    assert_equal ["good"], got
  ensure
    Pelton.on_error
  end

  def test_a_stop_iteration_of_on_error_does_not_end_it_in_silence
    database = connect(postgres_address)
    Pelton.on_error { |error| raise StopIteration if error.message == "in the block" }
    Pelton.run do
      listener = Pelton::Sequel.listen("news") { raise "in the block" }
      eventually { listening?(database) }
      Pelton::Sequel.notify("news", "bad")

      assert_raises(StopIteration) { listener.await(timeout: 20) }
    end
  ensure
    Pelton.on_error
  end

  def test_it_listens_again_when_the_server_is_back
    server = OwnServer.new(:postgres)
    database = connect(server.address, timeout: 1)
    got = []
    silently do
      Pelton.run do
        listener = Pelton::Sequel::Listener.new(database, ["news"], pauses: [0.05]) { |payload| got << payload }
        Pelton.spawn(transient: true) { listener.run }
        eventually { listening?(database) }
        server.kill
        server.start
        eventually { listening?(database) }
        Pelton::Sequel.notify("news", "again")
        eventually { got.any? }
      end
    end

    assert_equal ["again"], got
  ensure
    server&.stop
  end

  private

  def listening?(database)
    database.fetch("SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN %'").single_value.positive?
  rescue Sequel::DatabaseError, Pelton::ConnectionError, Pelton::TimeoutError
    false
  end

  def eventually
    800.times { yield ? (return) : sleep(0.01) }
    flunk "not in time"
  end

  def run_in_child
    Process.wait(fork { yield.then { exit!(0) } })
  end
end
