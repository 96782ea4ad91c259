# frozen_string_literal: true

require_relative "test_helper"
require "objspace"
require "socket"
require "weakref"
require "pelton"

# What is active is kept alive by the reactor's list: by the ring of the young ones, and, after some collections, by cards.
class ListedTest < PeltonTest
  COLLECTIONS = 5 # more than Ruby counts before an object is old

  def test_active_timers_live_through_collections
    fired = []
    Pelton.run do
      600.times { |i| Pelton.add_timer(0.05) { fired << i } }
      grow_old
      600.times { |i| Pelton.add_timer(0.05) { fired << 600 + i } }
      grow_old
    end
    assert_equal (0...1200).to_a, fired.sort
  end

  def test_what_is_not_active_any_more_is_collected
    Pelton.run do
      timers = Array.new(600) { Pelton.add_timer(60) {} }
      grow_old
      weak = timers.map { |timer| WeakRef.new(timer) }
      timers.each(&:cancel)
      timers.clear
      collect
      assert_operator weak.count(&:weakref_alive?), :<=, 5 # a stack may still name some
    end
  end

  def test_places_are_taken_again
    Pelton.run do
      timers = Array.new(600) { Pelton.add_timer(60) {} }
      grow_old
      collect
      full = cards
      5.times do
        timers.shuffle!(random: Random.new(1))
        timers.pop(300).each(&:cancel)
        300.times { timers << Pelton.add_timer(60) {} }
        grow_old
        collect
        assert_equal full, cards
      end
      timers.each(&:cancel)
      timers.clear
      collect
      assert_operator cards, :<, full
    end
  end

  def test_the_longest_active_is_stopped_first
    closed = []
    Pelton.run do
      sockets = []
      open = lambda do |name|
        here, there = UNIXSocket.pair
        sockets << there
        here.autoclose = false
        stream = Pelton::Stream.for_fd(here.fileno)
        stream.on_data {}
        stream.on_close { closed << name }
        stream
      end
      streams = (0...300).map(&open)
      grow_old
      streams.values_at(3, 299).each(&:close)
      (300...303).each(&open)
      turn
      assert_equal [3, 299], closed.shift(2)
      Pelton.stop
    end
    assert_equal (0...303).to_a - [3, 299], closed
  end

  # Timeouts are not protected by write barriers, so that they never become old.
  def test_the_collector_finds_all_it_was_not_told_of
    assert_equal "1000\n", ruby_output(<<~RUBY)
      require "pelton"

      random = Random.new(1)
      done = 0
      Pelton.run do
        timers = []
        1000.times do |i|
          if i.even?
            Pelton.add_timer(0.05 * random.rand) { done += 1 }
          else
            Pelton::Operation.new.timeout(0.05 * random.rand).errback { done += 1 }
          end
          timers << Pelton.add_timer(60) { raise "cancelled" }
          timers.delete_at(random.rand(timers.size)).cancel if random.rand(3) == 0
          Pelton::Reactor.current.yield if i % 3 == 0
          GC.start(full_mark: false) if i % 10 == 0
          GC.verify_internal_consistency if i % 50 == 5
          GC.compact if i % 250 == 0
        end
        sleep(0.01) until done == 1000
        timers.each(&:cancel)
      end
      puts done
    RUBY
  end

  # The reactor and what it has listed are freed in any order then.
  def test_a_thread_may_end_with_something_active
    assert_equal "ended\n", ruby_output(<<~RUBY)
      require "pelton/http"
      require "socket"

      50.times do
        Thread.new do
          20.times { Pelton::Operation.new.timeout(60) }
          sockets = UNIXSocket.pair.each { |socket| socket.autoclose = false }
          here, there = sockets.map { |socket| Pelton::Stream.for_fd(socket.fileno) }
          Pelton::HTTP::Server.new(->(_env) { [200, {}, []] }).serve(here)
          there.on_data {}
          Pelton.listen("127.0.0.1", 0) {}
        end.join
      end
      GC.start
      puts "ended"
    RUBY
  end

  private

  def cards = ObjectSpace.count_tdata_objects[:"Pelton card"].to_i

  def collect = GC.start

  def turn = Pelton::Reactor.current.yield

  # Lets the loop turn often enough between collections for all to move to cards.
  def grow_old
    COLLECTIONS.times { GC.start(full_mark: false) }
    50.times { turn }
  end
end
