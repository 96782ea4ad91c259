# frozen_string_literal: true

require "test_helper"
require "pelton/sequel"
require "pelton/sequel/driver/prepared"

# What needs no server; the rest is in integration/prepared_test.rb.
class PreparedTest < PeltonTest
  # The connection's side: it counts what it is asked.
  class Session
    attr_reader :asked

    def initialize = @asked = []
    def prepare(name, _sql) = @asked << "prepare #{name}"
    def async_exec(sql) = @asked << sql
    def check_disconnect_errors = yield
  end

  include Pelton::Sequel::Prepared

  def log_connection_yield(*) = yield

  def test_a_text_is_prepared_when_it_comes_again_and_the_oldest_goes
    session = Session.new

    assert_equal [nil, "pelton_1", "pelton_1"], Array.new(3) { statement(session, "SELECT 1")&.name }
    STATEMENTS.times { |i| statement(session, "SELECT #{i + 2}") }
    assert_equal ["prepare pelton_1", "DEALLOCATE pelton_1"], session.asked
    assert_nil statement(session, "SELECT 1")
  end

  # A column whose type has changed, or the type of a parameter that the server has inferred from it.
  def test_errors_of_statements_that_are_stale
    begin
      require "pg"
    rescue LoadError
      skip "the gem pg is not installed"
    end
    states = %w[0A000 42804 42846 42883 22P02 22003 22007 22008 42601 23505]

    assert_equal states - %w[0A000 42601 23505], states.select { |state| stale?(error(state, "whatever")) }
    assert stale?(error("0A000", "ERROR:  cached plan must not change result type"))
  end

  def error(state, message)
    result = Object.new
    result.define_singleton_method(:error_field) { |_| state }
    PG::Error.new(message).tap { |error| error.define_singleton_method(:result) { result } }
  end

  def test_a_text_that_is_certain_to_come_again_is_prepared_at_once
    session = Session.new

    assert_equal %w[pelton_1 pelton_1], Array.new(2) { statement(session, "SELECT 1", again: true).name }
    assert_equal ["prepare pelton_1"], session.asked
  end
end
