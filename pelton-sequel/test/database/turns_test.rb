# frozen_string_literal: true

require "test_helper"
require "pelton/database"

class TurnsTest < PeltonTest
  Turns = Pelton::Database::Turns

  def test_a_fiber_waits_for_another_s_turn
    events = []
    thing = Object.new
    Pelton.run do
      tasks = [1, 2].map do |number|
        Pelton.spawn do
          Turns.take(thing, :name) do
            events << [:begin, number]
            sleep 0.005
            events << [:end, number]
          end
        end
      end
      tasks.each(&:await)
    end

    assert_equal [[:begin, 1], [:end, 1], [:begin, 2], [:end, 2]], events
  end

  def test_other_things_and_names_do_not_wait
    Pelton.run do
      running = 0
      most = 0
      [[:a, :x], [:a, :y], [:b, :x]].map do |thing, name|
        Pelton.spawn do
          Turns.take(thing, name) do
            most = [most, running += 1].max
            sleep 0.005
            running -= 1
          end
        end
      end.each(&:await)

      assert_equal 3, most
    end
  end

  def test_a_turn_may_come_back_to_itself_and_fail
    Pelton.run do
      assert_equal(1, Turns.take(self, :x) { Turns.take(self, :x) { 1 } })
      assert_raises(KeyError) { Turns.take(self, :x) { raise KeyError } }
      assert_equal(2, Turns.take(self, :x) { 2 })
    end
    assert_equal(3, Turns.take(self, :x) { 3 })
  end

  def test_a_cancelled_turn_lets_the_next_one_go_on
    Pelton.run do
      first = Pelton.spawn { Turns.take(self, :x) { sleep } }
      second = Pelton.spawn { Turns.take(self, :x) { :done } }
      Pelton::Reactor.current.yield
      first.cancel

      assert_equal :done, second.await
    end
  end
end
