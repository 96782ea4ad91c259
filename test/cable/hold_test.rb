# frozen_string_literal: true

require "test_helper"
require "pelton/cable"

class CableHoldTest < PeltonTest
  # The session and its server.
  Session = Struct.new(:slow) do
    def server = self

    def socket = :socket

    def too_slow(socket) = slow << socket
  end

  def setup
    super
    @sent = []
    @session = Session.new([])
    @hold = Pelton::Cable::Hold.new(@session, "id", limit: 100) { |json, position| @sent << [json, position] }
  end

  def test_messages_wait_unless_they_are_not_kept
    @hold.push("1", "e:1")
    @hold.push("plain", nil)

    assert_equal [["plain", nil]], @sent
    assert_predicate @hold, :waiting?
    @hold.release(nil)
    @hold.push("2", "e:2")
    assert_equal [["plain", nil], ["1", "e:1"], ["2", "e:2"]], @sent
  end

  def test_what_the_history_had_is_left_out
    @hold.push("1", "e:1")
    @hold.push("2", "e:2")
    @hold.release("e:1")
    @hold.push("late", "e:1")
    @hold.push("other epoch", "f:1")

    assert_equal [["2", "e:2"], ["other epoch", "f:1"]], @sent
  end

  def test_a_limit
    2.times { |number| @hold.push("x" * 60, "e:#{number}") }

    assert_equal [:socket], @session.slow
  end
end
