# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/scheduling"
require "pelton"
require "tempfile"
require "timeout"
require "zlib"

# The table of hooks in docs/reference/scheduler.md: which of them Pelton has, and which Ruby calls which. A hook that
# this Ruby does not call is called here.
class SchedulerHookTableTest < PeltonTest
  include Scheduling

  # This hook is there only after a call has taken long.
  def setup
    super
    Pelton::Scheduler::BlockingOperationWait.install
  end

  def teardown
    Pelton::Scheduler::BlockingOperationWait.remove
    super
  end

  # Hook => what Ruby calls it for. It calls yield at an interrupt that comes in certain moments of a wait.
  OCCASIONS = {
    "address_resolve" => -> { Addrinfo.getaddrinfo("localhost", 80) },
    "block" => -> { Queue.new.then { |queue| Pelton.spawn { queue << 1 } && queue.pop } },
    "blocking_operation_wait" => -> { Zlib.inflate(Zlib.deflate("text")) },
    "close" => -> { scheduling_thread {} },
    "fiber" => -> { Fiber.schedule {} },
    "fiber_interrupt" => -> { close_while_it_is_read },
    "io_close" => -> { close_while_it_is_read },
    "io_pread" => -> { Tempfile.create { |file| buffer_of(4).pread(file, 0, 4) } },
    "io_pwrite" => -> { Tempfile.create { |file| buffer_of(4).pwrite(file, 0, 4) } },
    "io_read" => -> { (@there << "x") && @here.readpartial(1) },
    "io_select" => -> { IO.select([@here], nil, nil, 0.001) },
    "io_wait" => -> { @here.wait_readable(0.001) },
    "kernel_sleep" => -> { sleep 0.001 },
    "process_wait" => -> { Process.wait(spawn("true")) },
    "scheduler_close" => -> { scheduling_thread {} },
    "timeout_after" => -> { Timeout.timeout(1) {} },
    "unblock" => -> { Queue.new.then { |queue| Pelton.spawn { queue << 1 } && queue.pop } }
  }.freeze

  # Hook => [its result, a call by hand].
  CALLS = {
    "address_resolve" => [true, -> { hooks.address_resolve("127.0.0.1").include?("127.0.0.1") }],
    "block" => [false, -> { hooks.block(:blocker, 0.001) }],
    "blocking_operation_wait" => [5, -> { hooks.blocking_operation_wait(-> { 5 }) }],
    "close" => [%w[begun ended], -> { scheduling_thread { |reactor| reactor.close } }],
    "fiber" => [true, -> { hooks.fiber { sleep 0.001 }.alive? }],
    "fiber_interrupt" => [false, -> { hooks.fiber_interrupt(Fiber.new {}, IOError.new) }],
    "io_close" => [true,
      -> { IO.pipe.map(&:dup).each { |io| io.autoclose = false }.all? { |io| hooks.io_close(io.fileno) } }],
    "io_pread" => [4,
      -> { Tempfile.create { |file| file.write("text") && file.flush && hooks.io_pread(file, buffer_of(4), 4, 0) } }],
    "io_pwrite" => [4, -> { Tempfile.create { |file| hooks.io_pwrite(file, buffer_of(4), 4, 0) } }],
    "io_read" => [1, -> { (@there << "x") && hooks.io_read(@here, buffer_of(1), 1) }],
    "io_select" => [nil, -> { hooks.io_select([@here], nil, nil, 0.001) }],
    "io_wait" => [IO::WRITABLE, -> { hooks.io_wait(@here, IO::READABLE | IO::WRITABLE, 1) }],
    "kernel_sleep" => [true, -> { hooks.kernel_sleep(0.001) }],
    "process_wait" => [true, -> { hooks.process_wait(spawn("true"), 0).success? }],
    "scheduler_close" => [%w[begun ended], -> { scheduling_thread { |reactor| reactor.scheduler_close } }],
    "timeout_after" => [5, -> { hooks.timeout_after(1, KeyError, "late") { 5 } }],
    "unblock" => [nil, -> { hooks.unblock(:blocker, Fiber.new {}) }],
    "yield" => [nil, -> { hooks.yield }]
  }.freeze

  def test_the_table_lists_the_hooks_that_pelton_has
    listed, missing = table.partition { |_, row| row.fetch(:pelton) !~ /\Anone/ }.map { |rows| rows.map(&:first) }

    present = [Pelton::Scheduler, Pelton::Scheduler::BlockingOperationWait].flat_map do |one|
      one.public_instance_methods(false)
    end

    assert_equal [*present.map(&:to_s), "yield"].sort, listed.sort
    assert_equal %w[io_write], missing
    missing.each { |hook| refute_respond_to Pelton::Reactor.current, hook }
  end

  def test_each_hook_can_be_called
    assert_equal table.keys - %w[io_write], CALLS.keys & table.keys
    CALLS.each do |hook, (result, call)|
      Pelton.run do
        result.nil? ? assert_nil(instance_exec(&call), hook) : assert_equal(result, instance_exec(&call), hook)
      end
    end
  end

  def test_ruby_calls_the_hooks_that_the_table_says
    version = RUBY_VERSION[/\A\d+\.\d+/]
    skip "the table does not know Ruby #{version}" unless table.first.last.key?(version)
    expected = table.slice(*OCCASIONS.keys).transform_values { |row| row.fetch(version) == "yes" }

    assert_equal expected, OCCASIONS.to_h { |hook, occasion| [hook, called_during(occasion).include?(hook)] }
  end

  private

  # Hook => the table's other columns by their title: the versions of Ruby, and :pelton.
  def table
    @table ||= begin
      rows = File.read(File.join(ROOT, "docs/reference/scheduler.md"))[/^\| hook \|.*?(?=\n\n)/m].lines.map do |line|
        line.split("|")[1..-2].map(&:strip)
      end
      titles = rows.shift.drop(1)
      rows.drop(1).to_h do |hook, *cells|
        [hook.delete("`"), titles.zip(cells).to_h.tap { |row| row[:pelton] = row.delete(titles.last) }]
      end
    end
  end

  def called_during(occasion)
    called = []
    @here, @there = UNIXSocket.pair if @here.closed?
    trace = TracePoint.new(:call, :c_call) do |point|
      called << point.method_id.to_s if [Pelton::Scheduler, Pelton::Reactor].include?(point.defined_class)
    end
    trace.enable
    Pelton.run { instance_exec(&occasion) }
    called
  ensure
    trace.disable
  end

  def close_while_it_is_read
    task = Pelton.spawn { @here.read(1) }
    sleep 0
    @here.close
    task.cancel
    assert_raises(IOError, Pelton::Cancelled) { task.await }
  end

  # A thread that has a reactor as its scheduler, but does not run it: it runs when it is closed.
  def scheduling_thread
    log = []
    Thread.new do
      Fiber.set_scheduler(reactor = Pelton::Reactor.current)
      Fiber.schedule { (log << "begun") && sleep(0.001) && log << "ended" }
      yield reactor
      log.dup
    end.value
  end

  def hooks = Fiber.scheduler
end
