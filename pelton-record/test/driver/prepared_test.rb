# frozen_string_literal: true

require "test_helper"
require "pelton/record"
require "pelton/record/driver/prepared"

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

  include Pelton::Record::Prepared

  def log_connection_yield(*) = yield

  def test_a_text_is_prepared_when_it_comes_again_and_the_oldest_goes
    session = Session.new

    assert_equal [nil, "pelton_1", "pelton_1"], Array.new(3) { statement_name(session, "SELECT 1") }
    STATEMENTS.times { |i| statement_name(session, "SELECT #{i + 2}") }
    assert_equal ["prepare pelton_1", "DEALLOCATE pelton_1"], session.asked
    assert_nil statement_name(session, "SELECT 1")
  end
end
