# frozen_string_literal: true

require_relative "../test_helper"
require "objspace"
require "socket"
require "pelton"

# The registry of GC roots keeps active objects alive: young ones in a list and, after some collections, old ones on
# pages.
class RootsTest < PeltonTest
  COLLECTIONS = 5 # more than an object survives before Ruby counts it as old

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

  def test_objects_that_are_no_longer_active_are_collected
    Pelton.run do
      timers = Array.new(600) { Pelton.add_timer(60) {} }
      grow_old
      before = timers_alive
      timers.each(&:cancel)
      timers.clear
      collect
      assert_operator timers_alive, :<=, before - 595 # a stack may still refer to some
    end
  end

  def test_page_slots_are_reused
    Pelton.run do
      timers = Array.new(600) { Pelton.add_timer(60) {} }
      grow_old
      collect
      full = pages
      5.times do
        timers.shuffle!(random: Random.new(1))
        timers.pop(300).each(&:cancel)
        300.times { timers << Pelton.add_timer(60) {} }
        grow_old
        collect
        assert_equal full, pages
      end
      timers.each(&:cancel)
      timers.clear
      collect
      assert_operator pages, :<, full
    end
  end

  def test_the_root_that_was_added_first_is_stopped_first
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
      run_loop_once
      assert_equal [3, 299], closed.shift(2)
      Pelton.stop
    end
    assert_equal (0...303).to_a - [3, 299], closed
  end

  # Timeouts have no write barriers, so they never become old.
  def test_the_collector_finds_references_without_write_barriers
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

  # The reactor and its roots are freed in any order then.
  def test_a_thread_may_end_with_active_roots
    assert_equal "ended\n", ruby_output(<<~RUBY)
      require "pelton"

      50.times do
        Thread.new do
          20.times { Pelton::Operation.new.timeout(60) }
        end.join
      end
      GC.start
      puts "ended"
    RUBY
  end

  private

  def pages = ObjectSpace.count_tdata_objects[:"Pelton page of old roots"].to_i

  def timers_alive = ObjectSpace.each_object(Pelton::Timer).count

  def collect = GC.start

  def run_loop_once = Pelton::Reactor.current.yield

  # Lets the loop run often enough after the collections for all roots to move to pages.
  def grow_old
    COLLECTIONS.times { GC.start(full_mark: false) }
    50.times { run_loop_once }
  end
end
