# frozen_string_literal: true

require "test_helper"
require "pelton/sequel"

class TurnsTest < PeltonTest
  Turns = Pelton::Sequel::Turns

  # Methods with an `ensure` block: a fiber that is cancelled while a handler waits at its beginning does not run the
  # rest.
  ENSURE = %w[take turns].freeze

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

  # A trap handler that waits right after the turn was taken; meanwhile the fiber is cancelled.
  def test_a_turn_that_was_taken_but_not_begun_is_given_back
    handler = trap(:USR1) { sleep }
    Pelton.run do
      strike = TracePoint.new(:return) do |point|
        strike.disable && Process.kill(:USR1, Process.pid) if point.method_id == :claim
      end
      first = Pelton.spawn { [strike.enable, Turns.take(self, :x) { flunk "it was cancelled" }] }
      second = Pelton.spawn { Turns.take(self, :x) { :done } }
      Pelton::Reactor.current.yield
      first.cancel

      assert_equal :done, second.await(timeout: 10)
    end
  ensure
    trap(:USR1, handler || "DEFAULT")
  end

  # Fibers that are cancelled, raise, and come back, on the same few things; and a trap handler that waits nearly
  # wherever it strikes.
  def test_random_turns_exclude_each_other_and_all_end
    random = Random.new(seed = Random.new_seed % 1_000_000)
    handler = trap(:USR1) do
      places = caller_locations(1, 4).map(&:base_label)
      sleep 0.0002 unless places.include?("unblock") || ENSURE.include?(places.first)
    end
    40.times do
      running = Hash.new(0)
      Pelton.run do
        tasks = Array.new(30) { Pelton.spawn { turns(random, running) } }
        10.times do
          (sleep random.rand * 0.001) && [-> { Process.kill(:USR1, Process.pid) },
            -> { tasks.sample(random: random).cancel }].sample(random: random).call
        end
        tasks.each do |task|
          task.await(timeout: 10)
        rescue KeyError, Pelton::Cancelled
          nil
        end
      end

      assert_empty running.reject { |_, count| count.zero? }, "seed #{seed}"
      assert %i[x y].all? { |name| Turns.free?(self, name) }, "seed #{seed}"
    end
  ensure
    trap(:USR1, handler || "DEFAULT")
  end

  private

  def turns(random, running)
    random.rand(1..5).times do
      Turns.take(self, name = %i[x y].sample(random: random)) do
        assert_equal 1, running[name] += 1
        sleep(random.rand * 0.0005)
        raise KeyError if random.rand(20) == 0
        assert_equal(1, Turns.take(self, name) { 1 })
      ensure
        running[name] -= 1
      end
    end
  end
end
