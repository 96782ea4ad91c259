# frozen_string_literal: true

require "set"
require "timeout"
require "pelton"
require_relative "fiber_steps"

# A random program of tasks, callbacks, timers, fibers and threads that wait for each other in every way, raise in each
# other, are cancelled and stopped; and a model that checks the result when the program is over. The same seed makes the
# same decisions again, though not at the same moments.
#
# Each part of the program is an actor: it begins once, takes steps, and ends once. Each exception names the actor that
# it is meant for, so that one that strikes another actor is found.
class FiberProgram
  include FiberSteps

  Actor = Struct.new(:number, :kind, :fiber, :task, :state, :cancelled) do
    def to_s = "#{kind} #{number}"
  end

  # What an actor has begun: whether it has ended.
  Step = Struct.new(:actor, :closed)

  # By Thread#raise or Thread#kill from outside, in a thread of its own.
  INTERRUPTS = %i[interrupt kill].freeze

  # How the program ends. :calm: all actors end, woken by the janitor if need be. :stop, :exit: by Pelton.stop or exit
  # while it is busy.
  ENDS = [:calm, :calm, :calm, :stop, :exit, *INTERRUPTS].freeze

  class Interrupted < Exception # rubocop:disable Lint/InheritException
  end

  attr_reader :seed

  # @return [Hash{Symbol => Array}] when signals come, by the seed: the `steps` at whose beginning they strike, and
  #   seconds between those (`pauses`) that strike wherever the program is then
  attr_reader :moments

  # Fibers that were cancelled or given up while a trap handler waited in them, or were to be resumed there. The handler
  # may have struck inside an `ensure` block, whose rest did not run then.
  attr_reader :struck

  # size: actors that begin at once; at most: actors altogether.
  def initialize(seed, size: 12, at_most: 40 * size, signals: false, stress: false)
    @seed = seed
    @random = Random.new(seed)
    @size = size
    @at_most = at_most
    @signals = signals
    @moments = signal_moments(seed, size)
    @handled = 0
    @stress = stress
    @end = ENDS.sample(random: @random)
    @problems = Queue.new
    @actors = []
    @opened = []
    @popped = Queue.new
    @operations = []
    @calls = Queue.new
    @uncaught = []
    @settled = {}.compare_by_identity # task => how often it was settled
    @queue = Queue.new
    @mutex = Mutex.new
    @condition = ConditionVariable.new
    @pipes = []
    @threads = []
    @struck = []
    @over = false
  end

  def to_s = "program #{@seed} (size #{@size}, end #{@end})"

  def call
    Pelton.on_error { |error| @uncaught << error }
    Pelton.logger = nil
    janitor = Thread.new { clean_up }
    begin
      INTERRUPTS.include?(@end) ? in_a_thread : run
    ensure
      @over = true
      [janitor, *@threads].each(&:join) # so that no signal comes when its handler is gone
    end
    Pelton.run {} # calls the blocks of operations that were settled too late
    problem("ready: #{Pelton.stats[:ready]}") if Pelton.stats[:ready] != 0
    check
    @problems.size.times.map { @problems.pop }
  ensure
    GC.stress = false
    @pipes.flatten.each { |io| io.close unless io.closed? }
    Pelton.on_error
    Pelton.logger = $stderr
  end

  # @return [Boolean] whether the trap handler waits by itself this time, or in a fiber that it resumes
  def sleep_in_handler? = ((@handled += 1) % 3).zero?

  private

  # Of a generator of its own, since the signals of another thread must not change what the program does.
  def signal_moments(seed, size)
    random = Random.new(seed ^ 0x516a15)
    {steps: Array.new(size) { random.rand(20 * size) }.uniq.sort, pauses: Array.new(20) { random.rand * 0.002 }}
  end

  def rand(...) = @random.rand(...)

  def problem(text) = @problems << text

  # ---- running -------------------------------------------------------------------------------------------------------

  def run
    value = Pelton.run(grace: 60) do
      @reactor = Pelton::Reactor.current
      GC.stress = @stress
      @size.times { begin_actor((@random.rand(4) == 0) ? 2 : 1) }
      Pelton.add_timer(rand * 0.01) { Pelton.stop } if @end == :stop
      Pelton.add_timer(rand * 0.01) { exit } if @end == :exit
      :value
    end
    problem("run returned #{value.inspect}") unless value == :value || ending?
  rescue SystemExit
    problem("an exit that was not called") unless @end == :exit
  rescue Pelton::Cancelled # the main block has resumed an actor that passes on the Cancelled of a task which it awaited
    raise unless ending?
  ensure
    GC.stress = false
    problem("parked: #{Pelton.stats[:parked]}") if Pelton.stats[:parked] != 0
  end

  def in_a_thread
    reports, Thread.report_on_exception = Thread.report_on_exception, false
    thread = Thread.new { run }
    Thread.report_on_exception = reports
    sleep rand * 0.01
    (@end == :kill) ? thread.kill : thread.raise(Interrupted)
    begin
      thread.join
    rescue Interrupted
      nil
    end
  end

  # Lets every wait end at last, in a thread of its own, so that it works whatever the reactor does.
  def clean_up
    @moments[:pauses].each do |pause|
      sleep pause
      Process.kill(:USR1, Process.pid) if @signals # strikes the fiber that runs now, waiting or not
    end
    until @over
      @queue.close
      @operations.each { |operation, value| operation.succeed(value) }
      @condition.broadcast
      @pipes.each do |_, writer|
        writer.write_nonblock("x", exception: false) unless writer.closed?
      rescue IOError
        nil # closed meanwhile, by the program's thread
      end
      sleep 0.001
    end
  rescue => error
    problem("in the janitor: #{error.full_message}")
  end

  # ---- actors --------------------------------------------------------------------------------------------------------

  def begin_actor(depth)
    return if @actors.size >= @at_most
    actor =
      Actor.new(@actors.size,
        %i[task tick request request timer scheduled resumed yielding thread].sample(random: @random), nil, nil, :made)
    @actors << actor
    begin_as(actor.kind, actor, depth)
    actor
  end

  def begin_as(kind, actor, depth)
    case kind
    when :task
      actor.task = Pelton.spawn { act(actor, depth) }
      count_settling(actor) if rand < 0.5
    when :tick then Pelton.next_tick { act(actor, depth) }
    when :request then @reactor._request(-> { act(actor, depth) })
    when :timer then Pelton.add_timer(rand * 0.002) { act(actor, depth) }
    when :scheduled then Fiber.schedule { act(actor, depth) }
    when :resumed then Fiber.new { act(actor, depth) }.resume
    when :yielding then begin_yielding(actor, depth)
    when :thread then @threads << Thread.new { in_thread(actor) }
    end
  end

  def count_settling(actor)
    @settled[actor] = 0
    actor.task.callback { |value| @calls << [:task, actor.number, value] }
    actor.task.callback { @settled[actor] += 1 }.errback { @settled[actor] += 1 }
  end

  # As em-synchrony works: a fiber yields, and a callback resumes it.
  def begin_yielding(actor, depth)
    fiber = Fiber.new do
      act(actor, depth) do
        step(actor) do
          resume_in_next_tick(fiber)
          Fiber.yield
        end
      end
    end
    fiber.resume
  end

  # A signal may strike before the fiber yields, and its handler wait: then the fiber cannot be resumed yet. It may also
  # strike here, and the stop cancel its handler: then nobody resumes the fiber.
  def resume_in_next_tick(fiber)
    Pelton.next_tick do
      fiber.resume if fiber.alive?
    rescue FiberError
      resume_in_next_tick(fiber)
    ensure
      @struck << fiber if $!.is_a?(Pelton::Cancelled) && fiber.alive?
    end
  end

  # Threads push, settle and lock; they wait for no event of Pelton's.
  def in_thread(actor)
    actor.state = :running
    case actor.number % 3
    when 0 then push
    when 1 then @operations.last&.then { |operation, value| operation.succeed(value) }
    when 2 then @mutex.synchronize { Thread.pass && @condition.signal }
    end
    actor.state = :ended
  end

  def act(actor, depth)
    problem("#{actor} begins twice") unless actor.state == :made
    actor.state = :running
    actor.fiber = Fiber.current
    yield if block_given?
    rand(1..4).times { step(actor) { take(actor, depth) } }
    actor.number
  rescue Own => error
    problem("#{actor} got #{error.message} of another") unless error.actor.equal?(actor)
    raise if %i[task tick request timer scheduled].include?(actor.kind)
  rescue Injected => error
    problem("#{actor} got #{error.message}") unless error.actor.equal?(actor)
    actor.number
  rescue Pelton::Cancelled
    problem("#{actor} was not cancelled, but got Cancelled") unless actor.cancelled || ending?
    raise
  rescue Exception => error # standard:disable Lint/RescueException
    raise if error.is_a?(Interrupted) || error.is_a?(SystemExit)
    problem("a foreign exception in #{actor}: #{error.full_message(highlight: false)}")
  ensure
    problem("#{actor} ends twice") if actor.state == :ended
    actor.state = :ended
  end

  def ending? = @end != :calm

  # One step: it is opened and closed exactly once, whatever happens inside.
  def step(actor)
    opened = Step.new(actor)
    number = @opened.size
    @opened << opened # a handler of a signal may run between these lines, and other actors while it waits
    begin
      Process.kill(:USR1, Process.pid) if @signals && @moments[:steps].include?(number)
      yield
    ensure
      problem("an ensure block of #{actor} ran twice") if opened.closed
      opened.closed = true
    end
  end

  # ---- the model -----------------------------------------------------------------------------------------------------

  def check
    check_actors
    check_operations
    check_tasks
    check_queue
    problem("the mutex stays locked") if @mutex.locked?
    @uncaught.each do |error|
      problem("nobody rescued #{error.full_message(highlight: false)}") unless error.is_a?(Own) || in_rescue?(error)
    end
    twice = @uncaught.tally.select { |_, count| count > 1 }
    problem("reported twice: #{twice}") if twice.any?
  end

  # A trap handler may strike where an actor rescues, and wait there: what is raised in it then, the actor does not
  # rescue.
  def in_rescue?(error) = error.is_a?(Injected) && error.backtrace.any?(/rescue in .*act'/)

  # An interrupt may strike inside an ensure block, right before a begin, or the actor that was to resume a fiber. It
  # may strike one actor, not two.
  def check_actors
    left = @actors.reject { |actor| actor.state == :ended }
    left.reject! { |actor| actor.state == :made } if ending? # not begun, because the program was over
    problems = left.map { |actor| [actor, "is #{actor.state} at the end"] }
    @opened.each { |step| problems << [step.actor, "has an ensure block that never ran"] unless step.closed }
    problems.reject! { |actor, _| @struck.include?(actor.fiber) }
    struck = problems.dig(0, 0) if INTERRUPTS.include?(@end)
    problems.each { |actor, text| problem("#{actor} #{text}") unless actor.equal?(struck) }
  end

  def check_operations
    calls = Array.new(@calls.size) { @calls.pop }
    twice = calls.tally.select { |_, count| count > 1 }
    problem("called twice: #{twice}") if twice.any?
    calls.each { |kind, value, got| problem("#{value} called back with #{got}") if kind != :timer && value != got }
    return if ending?
    missing = @operations.select { |operation, _| operation.done? }.map(&:last) - calls.map { |_, value, _| value }
    problem("never called: #{missing}") if missing.any?
  end

  # Each task is settled once, however it ended.
  def check_tasks
    allowed = ending? ? 0..1 : 1..1
    @settled.each { |actor, times| problem("#{actor} was settled #{times} times") unless allowed.cover?(times) }
  end

  def check_queue
    popped = Array.new(@popped.size) { @popped.pop }
    rest = Array.new(@queue.size) { @queue.pop }
    problem("popped twice: #{popped.tally.select { |_, count| count > 1 }}") if popped.uniq.size != popped.size
    problem("popped and still there: #{popped & rest}") if (popped & rest).any?
  end
end
