# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/memcached"

class InheritedTest < PeltonTest
  Inherited = Pelton::Inherited

  # From the first value on each task has a frame more, which other tests must not see.
  def teardown
    Pelton._observe(:inheritance, false)
    super
  end

  def run_with(value)
    Pelton.run do
      Pelton.spawn do
        Inherited[:tenant] = value
        yield
      end.await
    end
  end

  def seen = Inherited[:tenant]

  def test_tasks_groups_and_maps
    values = run_with("a") do
      [
        Pelton.spawn { Pelton.spawn(name: "inner") { seen }.await }.await,
        Pelton.group { |group| group.spawn { seen }.await },
        Pelton.map([1, 2]) { seen }
      ]
    end

    assert_equal ["a", "a", %w[a a]], values
  end

  def test_timers_ticks_offload_and_background_work
    log = Queue.new
    run_with("a") do
      Pelton.add_timer(0) { log << [:timer, seen] }
      Pelton.next_tick { log << [:tick, seen] }
      log << [:offload, Pelton.offload { seen }]
      background = Pelton::Background.new(concurrency: 1)
      background.run { log << [:work, seen] }
      Inherited[:tenant] = "b"
      background.run { log << [:later, seen] }
      background.stop
      sleep 0.001
    end

    assert_equal({timer: "a", tick: "a", offload: "a", work: "a", later: "b"}, Array.new(log.size) { log.pop }.to_h)
  end

  def test_blocks_of_deferrables
    log = []
    run_with("a") do
      done, failed = Pelton::Operation.new, Pelton::Operation.new
      done.callback { |first, second| log << [first, second, seen] }
      mapped = done.map { |*values| values << seen }
      failed.errback { |error| log << [error, seen] }
      Inherited[:tenant] = "b"
      done.callback { |*values| log << [*values, seen] }
      failed.fail(:no)
      done.succeed(1, 2)
      log << mapped.await
    end

    assert_equal [[1, 2, "a"], [1, 2, "a"], [1, 2, "b"], [:no, "a"]], log.sort_by(&:inspect)
  end

  def test_blocks_of_operations_in_flight
    with_memcached do |port|
      cache = Pelton::Memcached::Client.new("127.0.0.1:#{port}")
      values = []
      run_with("a") do
        cache.get("k") { |value| values << [value, seen] }
        cache.later.get("k").callback { |value| values << [value, seen] }.await
      end
      cache.close

      assert_equal [[nil, "a"]] * 2, values
    end
  end

  def test_what_a_task_sets_stays_its_own
    values = run_with("a") do
      inner = Pelton.spawn { (Inherited[:tenant] = "b") && sleep(0) && seen }
      forgetful = Pelton.spawn { (Inherited[:tenant] = nil) || seen }
      [inner.await, forgetful.await, seen]
    end

    assert_equal ["b", nil, "a"], values
  end

  # The fibers of tasks and callbacks are used again.
  def test_nothing_is_left_for_the_next_task
    left = []
    Pelton.run do
      20.times do
        Pelton.spawn { (Inherited[:tenant] = "x") && Pelton.add_timer(0) { sleep 0 } }.await
        sleep 0.0002
        left << Pelton.spawn { seen }.await
        left << Pelton.spawn { Pelton.next_tick { left << seen } && sleep(0) && nil }.await
      end
    end

    assert_equal [nil] * 60, left
  end

  def test_a_task_says_where_it_is_from
    origin = run_with("a") { Pelton.spawn { sleep 0 }.tap { |task| @origin = task.origin }.await && @origin }

    assert_equal "#{__FILE__}:#{__LINE__ - 2}", origin
  end

  # In a Ruby of its own, since it is for all tasks from then on.
  def test_the_state_of_a_library
    assert_equal "[:mine, nil]\n", ruby_output(<<~RUBY, options: %w[-rpelton])
      Pelton::Inherited.carry do
        state = Thread.current[:library]
        lambda do |block|
          Thread.current[:library] = state
          block.call
        ensure
          Thread.current[:library] = nil
        end
      end
      Pelton.run do
        Thread.current[:library] = :mine
        first = Pelton.spawn { Thread.current[:library] }.await
        Thread.current[:library] = nil
        p [first, Pelton.spawn { Thread.current[:library] }.await]
      end
    RUBY
  end

  def test_the_states_of_two_libraries
    assert_equal "[:first, :second]\n", ruby_output(<<~RUBY, options: %w[-rpelton])
      seen = []
      %i[first second].each { |name| Pelton::Inherited.carry { ->(block) { seen << name && block.call } } }
      Pelton.run { Pelton.spawn {}.await }
      p seen.uniq
    RUBY
  end
end
