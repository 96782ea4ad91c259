# frozen_string_literal: true

require_relative "../test_helper"
require "pelton"

# The order of requests in a loop: what has begun goes on in the order in which its requests arrived, and a new request
# begins when nothing else can go on. Work that belongs to no request keeps its place.
class RequestOrderTest < PeltonTest
  def test_woken_requests_go_on_in_the_order_of_their_arrival
    assert_order [3, 2, 1, :first, :second, :third] do
      ends = Array.new(3) { Pelton::Operation.new }
      %i[first second third].zip(ends) { |name, waits| request { waits.await && log(name) } }
      request do
        3.downto(1) { |number| log(number) && ends[number - 1].succeed(true) }
      end
    end
  end

  def test_a_request_does_not_begin_while_another_one_can_go_on
    assert_order [:begun, :woken, :ended, :begins] do
      wakes, ends = Array.new(2) { Pelton::Operation.new }
      request do
        log(:begun)
        wakes.await
        log(:woken)
        Pelton.spawn { ends.succeed }
        ends.await
        log(:ended)
      end
      Pelton.next_tick do
        Pelton.next_tick do
          request { log(:begins) }
          wakes.succeed
        end
      end
    end
  end

  def test_a_request_begins_while_all_others_wait
    assert_order [*0...100, 99, *0...99] do
      gate = Pelton::Operation.new
      100.times do |number|
        request do
          log(number)
          (number == 99) ? gate.succeed : gate.await
          log(number)
        end
      end
    end
  end

  def test_what_has_arrived_for_a_request_is_noticed_before_another_one_begins
    reader, writer = IO.pipe
    assert_order [:waits, :computes, :goes_on, :begins] do
      request do
        log(:waits)
        reader.readpartial(1)
        log(:goes_on)
      end
      request do
        log(:computes)
        writer << "x"
        block_the_loop(0.01)
      end
      request { log(:begins) }
    end
  ensure
    [reader, writer].each(&:close)
  end

  def test_tasks_have_the_age_of_their_request
    assert_order [:task, :map, :inner, :younger] do
      gates = Array.new(2) { Pelton::Operation.new }
      request do
        gates[0].await
        Pelton.spawn { log(:task) && Pelton.spawn { log(:inner) }.await }
        Pelton.map([:map]) { |name| log(name) }
      end
      request do
        gates[1].await
        log(:younger)
      end
      request { gates.reverse_each(&:succeed) }
    end
  end

  def test_a_fiber_of_a_request_has_its_age
    assert_order [:older, :younger] do
      gates = Array.new(2) { Pelton::Operation.new }
      request { Fiber.schedule { gates[0].await && log(:older) } }
      request { gates[1].await && log(:younger) }
      request { gates.reverse_each { |gate| gate.succeed(true) } }
    end
  end

  def test_a_request_that_yields_lets_all_others_run_first
    assert_order [:begins, :over] do
      over = false
      request do
        sleep 0 until over
        log(:over)
      end
      request { over = log(:begins) }
    end
  end

  # Its data is always there: it never waits, and uses up its budget again and again.
  def test_a_request_that_never_waits_lets_a_young_one_begin
    over = false
    assert_order [:begins, :over] do
      request do
        File.open("/dev/zero") { |zero| zero.readpartial(65_536) until over }
        log(:over)
      end
      request { over = log(:begins) }
    end
  end

  def test_no_request_begins_while_another_one_sleeps_for_a_moment
    assert_order [:sleeps, :goes_on, :begins], short_wait: 1_000 do
      request do
        log(:sleeps)
        sleep 0.001
        log(:goes_on)
      end
      request { log(:begins) }
    end
  end

  def test_requests_begin_while_another_one_sleeps_for_long
    assert_order [:sleeps, :begins, :goes_on], short_wait: 0.0001 do
      request do
        log(:sleeps)
        sleep 0.01
        log(:goes_on)
      end
      request { log(:begins) }
    end
  end

  def test_no_request_begins_while_another_one_waits_for_what_was_quick_before
    with_pipe do |reader, writer|
      assert_order [:waits, :goes_on, :begins], short_wait: 1_000 do
        request do
          2.times { await_byte(reader, writer) }
          request { log(:begins) }
          log(:waits)
          await_byte(reader, writer)
          log(:goes_on)
        end
      end
    end
  end

  def test_requests_begin_while_another_one_waits_for_what_is_not_known
    with_pipe do |reader, writer|
      assert_order [:waits, :begins, :goes_on], short_wait: 1_000 do
        request do
          request { log(:begins) && writer << "x" }
          log(:waits)
          reader.readpartial(1)
          log(:goes_on)
        end
      end
    end
  end

  # The byte comes only when the other request has begun: the loop does not idle for it any longer than it may.
  def test_requests_are_not_held_for_ever
    with_pipe do |reader, writer|
      assert_order [:waits, :begins, :goes_on], short_wait: 1_000 do
        request do
          2.times { await_byte(reader, writer) }
          sleep 0.0001
          request { log(:begins) && writer << "x" }
          log(:waits)
          reader.readpartial(1)
          log(:goes_on)
        end
      end
    end
  end

  # Another one would soon wait for the same Mutex. The byte comes later than the loop may idle for a wait otherwise.
  def test_no_request_begins_while_others_wait_for_a_mutex_and_its_holder_for_a_moment
    with_pipe do |reader, writer|
      assert_order [:waits, :goes_on, :locks, :begins], short_wait: 1_000 do
        mutex, blocked = Mutex.new, Pelton::Operation.new
        request do
          mutex.synchronize do
            2.times { await_byte(reader, writer) }
            request do
              blocked.succeed
              mutex.synchronize { log(:locks) }
            end
            blocked.await
            request { log(:begins) }
            log(:waits)
            Pelton.add_timer(0.05) { writer << "x" }
            reader.readpartial(1)
            log(:goes_on)
          end
        end
      end
    end
  end

  # The timer is for a loop that would idle on.
  def test_requests_begin_while_others_wait_for_no_mutex_and_one_for_a_moment
    with_pipe do |reader, writer|
      assert_order [:waits, :begins, :goes_on], short_wait: 1_000 do
        queue, blocked = Queue.new, Pelton::Operation.new
        request do
          2.times { await_byte(reader, writer) }
          request { blocked.succeed && queue.pop }
          blocked.await
          request { log(:begins) && writer << "x" }
          log(:waits)
          timer = Pelton.add_timer(0.5) { writer << "x" }
          reader.readpartial(1)
          log(:goes_on)
          timer.cancel
          queue << true
        end
      end
    end
  end

  # Both go on for as long as the young request has not begun: they lose their seniority in time.
  def test_requests_that_can_always_go_on_let_a_young_one_begin
    assert_order [:begins, :over, :over], seniority: 0.01 do
      over = false
      questions, answers = Queue.new, Queue.new
      [[questions, answers], [answers, questions]].each do |from, to|
        request do
          from.pop && to.push(true) until over
          to.push(true)
          log(:over)
        end
      end
      request { questions.push(true) }
      3.times { Pelton::Reactor.current.yield }
      request { over = log(:begins) }
    end
  end

  # A page that waits often, such as the first one after a boot, would stand in line behind all others after each wait.
  def test_a_request_that_has_lost_its_seniority_goes_on_between_those_that_begin
    assert_order [1, :first, 2, :second, 3, :third, 4], seniority: 0 do
      gates = Array.new(4) { Pelton::Operation.new }
      request do
        %i[first second third].zip(gates) do |name, gate|
          gate.await
          log(name)
        end
      end
      4.times do |number|
        request do
          log(number + 1)
          gates[number].succeed
        end
      end
    end
  end

  def test_the_oldest_gets_a_lock_that_a_younger_one_holds
    assert_order [:younger, :oldest, :middle] do
      mutex, gates = Mutex.new, Array.new(3) { Pelton::Operation.new }
      request do
        gates[0].await
        mutex.synchronize { log(:oldest) }
      end
      request do
        gates[1].await
        log(:middle)
      end
      request do
        mutex.synchronize do
          gates[0].succeed
          gates[2].await
          log(:younger)
        end
        gates[1].succeed
      end
      request { gates[2].succeed }
    end
  end

  # The middle one has asked for it first, and the youngest has it.
  def test_a_mutex_goes_to_the_oldest_request_that_waits_for_it
    assert_order [:youngest, :oldest, :middle] do
      mutex, gates = Mutex.new, Array.new(3) { Pelton::Operation.new }
      %i[oldest middle].zip(gates) do |name, gate|
        request do
          gate.await
          mutex.synchronize { log(name) }
        end
      end
      request do
        mutex.synchronize do
          gates[1].succeed
          Pelton.add_timer(0.01) { gates[0].succeed }
          Pelton.add_timer(0.02) { gates[2].succeed }
          gates[2].await
          log(:youngest)
        end
      end
    end
  end

  def test_a_request_that_has_asked_for_a_mutex_in_vain_stays_in_its_queue
    assert_order [0, 1, 2, 3, 4, 5] do
      mutex, gates = Mutex.new, Array.new(6) { Pelton::Operation.new }
      6.times do |number|
        request do
          gates[number].await
          mutex.synchronize do
            sleep 0.001
            log(number)
          end
        end
      end
      request do
        mutex.synchronize do
          gates.reverse_each do |gate|
            gate.succeed
            sleep 0.001
          end
        end
      end
    end
  end

  def test_a_request_knows_when_it_began
    assert_order [true, true, nil] do
      2.times { request { log(Pelton::Reactor.current.request_began.is_a?(Integer)) } }
      Pelton.add_timer(0.01) { log(Pelton::Reactor.current.request_began) }
    end
  end

  def test_requests_that_can_always_go_on_keep_no_other_work_waiting
    assert_order [:tick, :timer] do
      over = false
      ticks = lambda do |number|
        Pelton.next_tick { (number == 50) ? log(:tick) : ticks.call(number + 1) }
      end
      2.times { request { sleep 0 until over } }
      ticks.call(0)
      Pelton.add_timer(0.02) { over = log(:timer) }
    end
  end

  def test_endless_ticks_keep_no_request_waiting
    assert_order [:begun, :ended] do
      tick = -> { Pelton.next_tick(&tick) }
      tick.call
      request do
        log(:begun)
        sleep 0.001
        log(:ended) && Pelton.stop
      end
    end
  end

  def test_requests_do_not_begin_when_the_reactor_stops
    assert_order [:first] do
      3.times do
        request do
          log(:first)
          Pelton.stop
          sleep
        end
      end
    end
    assert_equal [0, 0], Pelton.stats.values_at(:ready, :parked)
  end

  private

  def log(entry) = @log << entry

  def with_pipe
    pipe = IO.pipe
    yield(*pipe)
  ensure
    pipe.each(&:close)
  end

  # Waits, since the byte is written in the next tick.
  def await_byte(reader, writer)
    Pelton.next_tick { writer << "x" }
    reader.readpartial(1)
  end

  def request(&block) = Pelton::Reactor.current._request(block)

  # Seniority is without end, unless a test says otherwise: the order shall not depend on how fast the machine is.
  def assert_order(expected, seniority: 1_000, short_wait: 0)
    @log = []
    reactor = nil
    Pelton.run do
      reactor = Pelton::Reactor.current
      reactor._seniority = seniority
      reactor._short_wait = short_wait
      yield
    end
    assert_equal expected, @log
  ensure
    reactor._seniority = reactor._short_wait = nil
  end

  def block_the_loop(seconds) = Fiber.new(blocking: true) { sleep seconds }.resume
end
