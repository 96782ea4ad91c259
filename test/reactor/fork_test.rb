# frozen_string_literal: true

require_relative "../test_helper"
require "openssl"
require "pelton"
require "socket"

# A child shares its parent's descriptors. So it must not touch the parent's loop, and must not run the parent's fibers.
class ForkTest < PeltonTest
  def setup
    @log = []
  end

  def test_the_child_runs_a_reactor_of_its_own_in_forks_block
    Pelton.run do
      Pelton.spawn { sleep(0.002) && @log << :parent }
      assert_equal "1\n[:fiber, :slept, :tick]", in_child {
        Pelton.run do
          Pelton.next_tick { @log << :tick }
          Fiber.schedule { sleep(0.0005) && @log << :fiber }
          sleep 0.002
          @log << :slept
        end
        puts 1
        print @log.sort
      }
    end

    assert_equal [:parent], @log
  end

  def test_ensure_blocks_of_the_parents_fibers_run_in_the_parent_alone
    Pelton.run do
      Pelton.spawn do
        sleep 0.002
      ensure
        @log << Process.pid
      end
      Pelton::Reactor.current.yield
      assert_equal "[]", in_child { print @log }
    end

    assert_equal [Process.pid], @log
  end

  # fork without a block: the child's copy of the callback returns to the parent's loop.
  def test_a_child_that_returns_into_its_parents_loop_gets_an_error
    reader, writer = IO.pipe
    Pelton.run do
      Pelton.spawn { sleep(0.002) && @log << :parent }
      unless fork
        @child = true
        Pelton::Reactor.current.next_tick { writer.write("tick in the child") }
      end
      @log << :callback
    end
    Process.wait
    writer.close

    assert_match(/\Aa child came back from fork into its parent's reactor/, reader.read) # and no tick in the child
    assert_equal %i[callback parent], @log
  rescue Pelton::ClosedError => error
    writer.write(error.message) if @child
    exit!(@child ? 0 : 1)
  ensure
    exit!(1) if @child
  end

  def test_exit_in_a_task_of_the_child_ends_the_child_with_that_status
    assert_equal "5\n5\n5\n", ruby_output(<<~RUBY)
      require "pelton"
      [->(leave) { leave.call }, ->(leave) { Pelton.spawn(&leave).await },
        ->(leave) { Pelton.add_timer(0, &leave) }].each do |style|
        Pelton.run do
          style.call(-> { fork ? Process.wait : exit(5) })
        end
        puts $?.exitstatus
      end
    RUBY
  end

  def test_the_child_can_rescue_that_error_and_call_run_again
    assert_equal "a child came back from fork into its parent's reactor\nrun again\nparent\n", ruby_output(<<~RUBY)
      require "pelton"
      begin
        Pelton.run { fork ? Process.wait : sleep(0.001) }
        puts "parent"
      rescue Pelton::ClosedError => error
        puts error.message[/\\A[^:]*/]
        puts Pelton.run { sleep(0.001) && "run again" }
      end
    RUBY
  end

  def test_the_parents_waits_go_on_whatever_the_child_closes
    reader, writer = IO.pipe
    near, far = UNIXSocket.pair
    stream = Pelton::Stream.for_fd(near.tap { |socket| socket.autoclose = false }.fileno)
    Pelton.run do
      reading = Pelton.spawn { reader.readpartial(1) }
      streaming = Pelton.spawn { stream.readpartial(1) }
      timer = Pelton.add_timer(1000) {}
      Pelton::Reactor.current.yield
      assert_equal "closed", in_child {
        reader.close
        near.close
        begin
          stream.abort
        rescue
          nil
        end
        timer.cancel
        begin
          reading.cancel
        rescue
          nil
        end
        GC.start
        print "closed"
      }
      assert_predicate timer, :active?
      timer.cancel
      writer.write("a")
      far.write("b")

      assert_equal %w[a b], [reading.await, streaming.await]
    end
  ensure
    [reader, writer, far].each(&:close)
  end

  def test_errors_name_the_parents_objects
    Pelton.run do
      reactor = Pelton::Reactor.current
      operation = Pelton::Operation.new
      timer = Pelton.add_timer(0.001) {}
      messages = in_child {
        [-> { reactor.next_tick {} }, -> { reactor.stop }, -> { operation.await }, -> { timer.restart(1) },
          -> { Pelton.spawn {} },
          -> { reactor.run {} }].each do |call|
          call.call
          puts "nothing raised"
        rescue Pelton::Error => error
          puts error.class
        end
      }

      assert_equal ["Pelton::ClosedError"] * 3 + ["Pelton::NotRunningError"] * 2 + ["Pelton::ClosedError"],
        messages.lines.map(&:chomp)
    end
  end

  # From 4.0 on Ruby leaves the child without a scheduler.
  def test_ruby_itself_waits_in_a_child_that_has_no_reactor_yet
    inherited = RUBY_VERSION < "4.0"
    Pelton.run do
      output = in_child {
        sleep 0.001
        queue = Queue.new
        Thread.new { sleep(0.001) && queue << "popped" }
        print queue.pop, system("true"), `echo hello`, Thread.new { 1 }.value
        reader, writer = IO.pipe
        Thread.new { sleep(0.001) && writer.write("x") }
        print reader.readpartial(1)
        inherited ? Fiber.schedule { sleep(0.001) && print("scheduled") } : p(Fiber.scheduler)
      }

      assert_equal "poppedtruehello\n1x#{inherited ? "scheduled" : "nil\n"}", output
    end
  end

  def test_a_mutex_that_the_parents_fibers_wait_for_can_be_unlocked_in_the_child
    mutex = Mutex.new
    Pelton.run do
      mutex.synchronize do
        Pelton.spawn { mutex.synchronize { @log << :locked } }
        Pelton::Reactor.current.yield
        assert_equal "unlocked", in_child { mutex.unlock && print("unlocked") }
      end
    end

    assert_equal [:locked], @log
  end

  def test_children_of_children
    Pelton.run do
      assert_equal "grandchild child ", in_child {
        Pelton.run do
          print in_child { Pelton.run { sleep(0.001) && print("grandchild ") } }
          sleep 0.001
          print "child "
        end
      }
    end
  end

  def test_a_child_of_a_user_fiber_of_a_scheduled_one_and_of_a_thread
    Pelton.run do
      children = -> { in_child { Pelton.run { Fiber.schedule { sleep 0.0005 } && sleep(0.001) && print("ok") } } }

      assert_equal "ok", Fiber.new { children.call }.resume
      Fiber.schedule { @log << children.call }
      @log << Thread.new { children.call }.value
    end

    assert_equal %w[ok ok], @log
  end

  def test_exceptions_of_the_child_stay_in_the_child
    Pelton.run do
      assert_equal "ensured", in_child {
        begin
          Pelton.run do
            Pelton.spawn do
              sleep
            ensure
              print "ensured"
            end
            Pelton::Reactor.current.yield
            exit 3
          end
        rescue SystemExit => error
          exit!(error.status == 3)
        end
      }
    end
  end

  # Otherwise two children would send the same secrets.
  def test_children_have_random_numbers_of_their_own
    random = -> { OpenSSL::Random.random_bytes(16).unpack1("H*") }
    Pelton.run do
      numbers = Array.new(2) { in_child { Pelton.run { print random.call } } } << random.call << random.call

      assert_equal 4, numbers.uniq.size
      assert_equal [32], numbers.map(&:size).uniq
    end
  end

  def test_programs_are_started_and_waited_for
    Pelton.run do
      Pelton.spawn { 3.times { sleep(0.001) && @log << 1 } }
      assert system("sleep 0.01")
      assert_equal "x\n", `echo x`
      IO.popen("cat", "r+") do |io|
        io.write("y")
        io.close_write
        assert_equal "y", io.read
      end
      Process.wait(Process.spawn("true"))
      assert_predicate $?, :success?
    end

    assert_equal [1, 1, 1], @log
  end

  def test_no_descriptor_of_the_loop_reaches_a_program
    Pelton.run do
      links = `ls -l /proc/self/fd`

      refute_match(/event(poll|fd)/, links)
    end
  end

  def test_neither_do_streams_and_listeners
    sockets = -> { `ls -l /proc/self/fd`.scan("socket:").size }
    before = sockets.call
    Pelton.run do
      accepted = Queue.new
      listener = Pelton.listen("127.0.0.1", 0) { |stream| accepted << stream }
      stream = Pelton.connect("127.0.0.1", listener.port)
      streams = [stream, accepted.pop]

      assert_equal before, sockets.call
      streams.each(&:close)
      listener.close
    end
  end

  def test_the_loops_descriptors_are_closed_with_the_reactor
    GC.start
    before = Dir.children("/proc/self/fd").size
    5.times { Thread.new { Pelton.run { sleep 0.0005 } }.join }
    3.times { GC.start }
    1000.times { Object.new }

    assert_operator Dir.children("/proc/self/fd").size, :<=, before + 4
  end

  private

  # The output of the block, which runs in a child. The child must succeed.
  def in_child
    reader, writer = IO.pipe
    pid = fork do
      reader.close
      $stdout = writer
      yield
      writer.flush
      status = true
    rescue SystemExit => error
      status = error.success?
    rescue Exception => error # standard:disable Lint/RescueException
      warn error.full_message
    ensure
      Fiber.set_scheduler(nil) if Fiber.scheduler
      writer.flush
      exit!(status || false)
    end
    writer.close
    output = reader.read
    Process.wait(pid)
    assert_predicate $?, :success?, output
    output
  ensure
    reader&.close
  end
end
