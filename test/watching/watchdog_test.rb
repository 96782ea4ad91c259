# frozen_string_literal: true

require "fiddle"
require "io/nonblock"
require_relative "../test_helper"
require "pelton"

# Each stall here ends with its own report: the blocking code waits for the watchdog's output.
class WatchdogTest < PeltonTest
  THRESHOLD = STRESS ? 1 : 0.005 # a collection takes longer than that

  def setup
    @reader, @writer = IO.pipe
    @threshold = Pelton.watchdog
    Pelton.logger = @writer
    Pelton.watchdog = THRESHOLD
  end

  def teardown
    Pelton.watchdog = @threshold
    Pelton.logger = $stderr
    Pelton.on_stall
    [@reader, @writer].each(&:close)
  end

  def test_a_select_is_reported_while_it_blocks
    stall_in { blocking { IO.select([@reader]) } }
    text = @reader.readpartial(9999)

    assert_reported "select", text
    assert_match(/^pelton: the loop goes on after [\d.e-]+ s$/, text)
  end

  def test_a_computation_is_reported_while_it_lasts
    skip "all its time goes into collections" if STRESS
    stall_in { blocking { loop { break if IO.select([@reader], nil, nil, 0) } } }

    assert_reported "loop"
  end

  # Yields a call in C that waits for data and keeps the GVL, and the data's place.
  def with_call_in_c
    read = Fiddle::Function.new(Fiddle.dlopen(nil)["read"], [Fiddle::TYPE_INT, Fiddle::TYPE_VOIDP, Fiddle::TYPE_SIZE_T],
      Fiddle::TYPE_INT, need_gvl: true)
    buffer = Fiddle.malloc(4096)
    @reader.nonblock = false
    yield -> { read.call(@reader.fileno, buffer, 4096) }, buffer
  ensure
    Fiddle.free(buffer)
  end

  def test_a_call_in_c_is_reported_while_it_keeps_the_gvl
    with_call_in_c do |read, buffer|
      stall_in { @length = read.call }

      assert_operator @length, :>, 0
      assert_reported "call", Fiddle::Pointer.new(buffer)[0, @length]
    end
  end

  def test_another_thread_that_keeps_the_gvl_is_reported_while_it_does
    with_call_in_c do |read, _|
      Pelton.run do
        Pelton.add_periodic_timer(THRESHOLD / 5.0) {} # the loop wants the GVL back again and again
        thread = Thread.new(&read)
        sleep 0.001 while thread.alive?

        assert_operator thread.value, :>, 0
      end
    end
  end

  def test_a_stack_of_methods_in_c_alone_has_no_lines
    assert_equal "[]\n", ruby_output(<<~RUBY)
      require "fiddle"
      require "io/nonblock"
      require "pelton"
      reader, Pelton.logger = IO.pipe
      $stdin.reopen(reader).nonblock = false
      Pelton.watchdog = #{THRESHOLD}
      Pelton.on_stall { |stall| p stall.backtrace }
      wait = Fiddle::Function.new(Fiddle.dlopen(nil)["getchar"], [], Fiddle::TYPE_INT, need_gvl: true)
      Pelton.run do
        Pelton.next_tick(&wait.method(:call))
        sleep 0.001
      end
    RUBY
  end

  def test_an_enumerator_that_waits_is_reported_while_it_blocks
    skip "it parks from Ruby 3.3 on" if RUBY_VERSION >= "3.3"
    stall_in { Enumerator.new { |values| values << @reader.wait_readable }.next }

    assert_reported "wait_readable"
  end

  def test_a_join_on_a_blocking_fiber_is_reported_while_it_blocks
    stall_in { blocking { Thread.new { IO.select([@reader]) }.join } }

    assert_reported "join"
  end

  # An operation parks even a fiber that Ruby calls blocking: so other fibers run.
  def test_an_operation_in_an_enumerator_is_no_stall
    assert_no_stall do
      operation = Pelton::Operation.new
      Thread.new { operation.succeed(eventually { Pelton::Watchdog.resting? }) }
      Enumerator.new { |values| values << operation.await }.next
    end
  end

  def test_waiting_is_no_stall_and_lets_the_watchdog_sleep
    assert_no_stall do
      Thread.new { eventually { Pelton::Watchdog.resting? } }.join

      assert_equal 1, Pelton::Watchdog.count
    end
  end

  def test_it_wakes_with_the_reactor
    Pelton.run do
      Thread.new { eventually { Pelton::Watchdog.resting? } }.join
      blocking { IO.select([@reader]) }
    end

    assert_reported "select"
  end

  def test_without_a_threshold_it_sleeps
    Pelton.watchdog = nil
    assert_nil Pelton.watchdog
    Pelton.run { eventually { Pelton::Watchdog.resting? } }
  end

  def test_a_threshold_is_positive
    assert_raises(ArgumentError) { Pelton.watchdog = 0 }
    assert_raises(ArgumentError) { Pelton.watchdog = -1 }
    assert_equal THRESHOLD, Pelton.watchdog
  end

  def test_the_environment_sets_the_threshold
    {nil => "0.1", "" => "0.1", "2.5" => "2.5", "off" => "nil"}.each do |value, expected|
      assert_equal expected, ruby_output("require 'pelton'; p Pelton.watchdog", env: {"PELTON_WATCHDOG" => value}).chomp
    end
    _, errors, status = run_ruby("require 'pelton'", env: {"PELTON_WATCHDOG" => "soon"})

    refute_predicate status, :success?
    assert_match(/PELTON_WATCHDOG=soon: use seconds, or off/, errors)
  end

  def test_on_stall_gets_the_stall_when_it_is_over
    stalls = []
    Pelton.on_stall { |stall| stalls << stall }
    stall_in { blocking { IO.select([@reader]) } }

    assert_equal 1, stalls.size
    stall = stalls.first
    assert_operator stall.seconds, :>=, THRESHOLD
    assert_match(/\A#{__FILE__}:\d+:in `select'\z/, stall.backtrace.first)
    assert_operator stall.backtrace.size, :>, 1
    assert_includes stall.to_s, stall.backtrace.last
    assert_predicate stall, :frozen?
  end

  def test_a_stall_names_its_task
    stalls = []
    Pelton.on_stall { |stall| stalls << stall }
    Pelton.run do
      Pelton.spawn(name: "import 7") { blocking { IO.select([@reader]) } }.await
      sleep 0.001
    end

    assert_equal "import 7", stalls.first.task.name
    assert_match(/\Athe loop was blocked for [\d.]+ s \(task "import 7"\) in$/, stalls.first.to_s)
  end

  def test_a_stall_of_the_stall_handler_is_not_reported_to_it
    reported = 0
    Pelton.on_stall do
      reported += 1
      @reader.readpartial(9999)
      blocking { IO.select([@reader]) }
    end
    before, after = Pelton.run do
      before = Pelton.stats[:stalls]
      blocking { IO.select([@reader]) }
      sleep 0.001
      sleep 0.001
      [before, Pelton.stats[:stalls]]
    end

    assert_equal 1, reported
    assert_equal 2, after - before
  end

  def test_stalls_are_counted
    Pelton.on_stall {} # the logger's line would be in the pipe
    before, after = Pelton.run do
      before = Pelton.stats
      3.times do
        blocking { IO.select([@reader]) }
        @reader.readpartial(9999)
        sleep 0.001
      end
      [before, Pelton.stats]
    end

    assert_equal 3, after[:stalls] - before[:stalls]
    assert_operator after[:longest_stall], :>=, THRESHOLD
  end

  # The loop is blocked until the watchdog has noticed it.
  def test_ten_stalls_a_minute_are_reported
    _, errors, status = run_ruby(<<~RUBY)
      require "pelton"
      found = 0
      Pelton.on_stall { found += 1 }
      Pelton.watchdog = 0.005
      Pelton.run do
        12.times do
          before = found
          while found == before
            Fiber.new(blocking: true) { sleep 0.02 }.resume
            sleep 0.001
          end
        end
      end
    RUBY

    assert status.success?, errors
    assert_equal 10, errors.scan("has been blocked").size
  end

  def test_a_logger_gets_the_stall_and_standard_error_the_report
    _, errors, status = run_ruby(<<~RUBY)
      require "pelton"
      require "logger"
      Pelton.watchdog = 0.005
      reader, writer = IO.pipe
      stderr = $stderr.dup
      $stderr.reopen(writer)
      Pelton.logger = Logger.new(stderr, formatter: ->(severity, _, _, text) { "\#{severity} \#{text}" })
      Pelton.run { Fiber.new(blocking: true) { IO.select([reader]) }.resume }
      abort "no report" unless reader.readpartial(9999).match?(/in `select'/)
    RUBY

    assert status.success?, errors
    assert_match(/\AWARN the loop was blocked for [\d.e-]+ s in\n    -e:8:in `select'/, errors)
  end

  def test_silence
    output, errors, status = run_ruby(<<~RUBY)
      require "pelton"
      Pelton.watchdog = 0.005
      Pelton.logger = nil
      stalled = false
      Pelton.on_stall { |stall| puts stall.backtrace.first if stalled ||= true }
      Pelton.run { (Fiber.new(blocking: true) { IO.select(nil, nil, nil, 0.02) }.resume; sleep 0.001) until stalled }
    RUBY

    assert status.success?, errors
    assert_empty errors
    assert_match(/\A-e:6:in `select'/, output)
  end

  def test_a_child_is_watched_by_a_watchdog_of_its_own
    pid = Pelton.run do
      fork do
        status = 1
        reader, Pelton.logger = IO.pipe # the parent's watchdog may report that fork took long
        Pelton.run { blocking { IO.select([reader]) } }
        status = 0 if reader.readpartial(9999).include?("in `select'")
      ensure
        exit!(status)
      end
    end
    Process.wait(pid)

    assert_predicate $?, :success?
  end

  def test_reactors_that_end_by_force_are_not_watched_any_more
    killed = Thread.new { Pelton.run { sleep } }
    eventually { Pelton::Watchdog.count == 1 }
    killed.kill.join
    raised = Thread.new { Pelton.run { raise "no" } }
    raised.report_on_exception = false
    assert_raises(RuntimeError) { raised.join }

    assert_equal 0, Pelton::Watchdog.count
  end

  def test_a_thread_that_is_killed_while_it_blocks_leaves_nothing_behind
    silent = IO.pipe # stays open
    thread = Thread.new { Pelton.run { blocking { IO.select([silent.first]) } } }

    assert_match(/in `select'/, @reader.readpartial(9999))
    thread.kill.join
    assert_equal 0, Pelton::Watchdog.count
    @reader.read_nonblock(9999, exception: false) # the report that the loop goes on
    stall_in { blocking { IO.select([@reader]) } }
    assert_reported "select"
  end

  def test_the_process_may_end_while_it_blocks
    output, errors, status = run_ruby(<<~RUBY)
      require "pelton"
      Pelton.watchdog = 0.005
      reader, writer = IO.pipe
      Pelton.logger = writer
      silent = IO.pipe
      Thread.new { Pelton.run { Fiber.new(blocking: true) { IO.select([silent.first]) }.resume } }
      reader.readpartial(10)
      puts "end"
    RUBY

    assert status.success?, errors
    assert_equal "end\n", output
  end

  # Otherwise what it loads at its start is a stall on a busy machine.
  def test_it_rests_while_a_server_starts
    output = ruby_output(<<~'RUBY', env: {"PELTON_WATCHDOG" => nil})
      require "pelton/cluster"
      require "pelton/http/launcher"
      rests = ->(what) do
        if Fiber.new(blocking: true) { 2_000.times.any? { Pelton::Watchdog.resting? || !sleep(0.001) } }.resume
          puts what
        end
      end
      app = ->(_env) { [200, {}, []] }

      # it is loaded
      Pelton.singleton_class.prepend(Module.new { define_method(:logger) { rests.call("a server") || super() } })
      Pelton.run { Pelton::HTTP::Server.new(app) }
      configuration = Pelton::HTTP::Configuration.new
      configuration.bind("tcp://127.0.0.1:0")
      configuration.on_boot { Pelton::HTTP::Server.new(app) && rests.call("pelton serve") }
      Pelton::HTTP::Launcher.new(configuration, app: app).run { Pelton.next_tick { Process.kill("TERM", Process.pid) } }
      own, master = UNIXSocket.pair
      master.write("stop\n")
      Pelton::Cluster::Child.new(0, nil, own).run { rests.call("a worker") }
      Pelton.run do
        p Fiber.new(blocking: true) { 2_000.times.all? { Pelton::Watchdog.resting? && sleep(0.001) } }.resume
      end
    RUBY

    assert_equal ["a server", "pelton serve", "a worker", "false"], output.lines(chomp: true).uniq.grep_v(/listens/)
  end

  private

  # In a callback, while the main task is parked.
  def stall_in(&block)
    Pelton.run do
      Pelton.next_tick(&block)
      sleep 0.001
    end
  end

  # The threshold is longer than a loaded machine may keep a thread from running.
  def assert_no_stall
    Pelton.watchdog = 0.4
    before, after = Pelton.run do
      before = Pelton.stats[:stalls]
      yield
      [before, Pelton.stats[:stalls]]
    end

    assert_equal before, after
  end

  def assert_reported(label, text = @reader.readpartial(9999))
    assert_match(/^pelton: the loop has been blocked for [\d.e-]+ s in$/, text)
    assert_match(/^    .+:\d+:in `#{label}'$/, text)
    assert_match(/^    #{__FILE__}:\d+:in `(block in )?#{name}'$/, text)
  end
end
