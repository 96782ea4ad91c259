# frozen_string_literal: true

# The steps of a FiberProgram's actors: each method waits, wakes, raises or begins some work, and reports a problem when
# the result is wrong.
module FiberSteps
  # Raised in an actor by another one (raise_in).
  class Injected < StandardError
    attr_reader :actor

    def initialize(actor) = super("for #{@actor = actor}")
  end

  # Raised by an actor itself.
  class Own < Injected
  end

  # The value of a fiber that a trap handler resumes. If the handler strikes right when another fiber gives control
  # back, Ruby returns this value in place of that fiber's.
  STRUCK = :struck

  STEPS = %i[
    nap nap nap yield push push pop pop lock lock wait_for_condition await await share settle pipe read_to_end join
    spawn_and_await cancel raise_in
    raise_own timeout timeout_of_ours much_that_is_ready nested enumerate catch_and_throw begin_more begin_more collect
    cancel_timer signal resume_chain leave
  ].freeze

  private

  def take(actor, depth) = __send__(:"take_#{STEPS.sample(random: @random)}", actor, depth)

  def take_nap(_, _) = sleep([0, 0.0001, 0.0005, 0.001].sample(random: @random))

  def take_yield(_, _) = @reactor.yield

  def take_push(_, _) = push

  def push
    @queue << Object.new
  rescue ClosedQueueError
    nil
  end

  def take_pop(_, _)
    item = @queue.pop
    @popped << item if item
  end

  def take_lock(_, _) = @mutex.synchronize { (@random.rand(2) == 0) ? sleep(0.0002) : @reactor.yield }

  # Ruby 3.1 does not lock the mutex again when an exception is raised in the wait.
  def take_wait_for_condition(_, _)
    @mutex.lock
    @condition.wait(@mutex, 0.002)
  ensure
    @mutex.unlock if @mutex.owned?
  end

  def take_await(actor, _)
    operation, value = @operations.sample(random: @random) if rand < 0.7
    operation, value = new_operation unless operation
    got = operation.await
    problem("#{actor} awaited #{value} and got #{got}") unless got == value
  end

  def new_operation
    operation = Pelton::Operation.new
    value = "value #{@operations.size}"
    @operations << [operation, value]
    operation.callback { |got| @calls << [:operation, value, got] }
    [operation, value]
  end

  def take_settle(_, _)
    operation, value = @operations.sample(random: @random)
    operation&.succeed(value)
  end

  def take_pipe(_, _)
    reader, writer = new_pipe
    Pelton.add_timer(rand * 0.001) { writer.write_nonblock("x", exception: false) unless writer.closed? }
    reader.wait_readable
    reader.read_nonblock(1, exception: false)
  end

  # An exception that strikes in IO.pipe makes Ruby 3.1 close its descriptors twice, which may be those of another IO
  # meanwhile.
  def new_pipe = Thread.handle_interrupt(Object => :never) { IO.pipe.tap { |pipe| @pipes << pipe } }

  def take_read_to_end(actor, _)
    reader, writer = new_pipe
    Pelton.next_tick { (writer << actor.number.to_s).close unless writer.closed? }
    got = reader.read.delete("x") # the janitor has written these
    problem("#{actor} read #{got}") unless got == actor.number.to_s
  end

  def take_join(actor, _)
    got = Thread.new { actor.number.tap { Thread.pass } }.value
    problem("#{actor} joined a thread and got #{got}") unless got == actor.number
  end

  # Several tasks await the same operation.
  def take_share(actor, _)
    operation, value = new_operation
    heirs = Array.new(3) { Pelton.spawn { operation.await } }
    Pelton.next_tick { operation.succeed(value) }
    got = heirs.map(&:await)
    problem("#{actor} shared #{value} and got #{got}") unless got == [value] * 3
  end

  def take_spawn_and_await(actor, depth)
    return if depth == 0
    other = begin_actor(depth - 1)
    return unless other&.task
    got = other.task.await
    problem("#{actor} awaited #{other} and got #{got.inspect}") unless got.nil? || got == other.number
  rescue Own => error # of the awaited task
    raise unless error.actor.equal?(other)
  rescue Pelton::Cancelled
    raise unless other&.cancelled && !actor.cancelled && !ending?
  end

  def take_cancel(actor, _)
    victim =
      @actors.select { |other| other.task && other.state != :ended && !other.equal?(actor) }.sample(random: @random) or
      return
    victim.cancelled = true
    victim.task.cancel
    # It may have begun, and wait in a trap handler before its block
    victim.state = :ended if victim.state == :made && victim.task.done?
  end

  def take_raise_in(actor, _)
    victim = @actors.select { |other| other.state == :running && other.fiber }.sample(random: @random) or return
    if victim.equal?(actor) ||
        @actors.any? { |other| other.state == :running && other.fiber.equal?(victim.fiber) && !other.equal?(victim) }
      return
    end
    @reactor.raise_in(victim.fiber, Injected.new(victim))
  end

  def take_raise_own(actor, _) = (raise Own.new(actor))

  def take_timeout(actor, depth)
    Timeout.timeout([0.0001, 0.001, 1].sample(random: @random)) { step(actor) { take(actor, depth) } }
  rescue Timeout::Error
    nil
  end

  def take_timeout_of_ours(actor, depth)
    Pelton.timeout([0.0001, 0.001, 1].sample(random: @random)) { step(actor) { take(actor, depth) } }
  rescue Pelton::TimeoutError
    nil
  end

  def take_much_that_is_ready(_, _)
    20.times { Pelton.next_tick { @reactor.yield } }
    @reactor.yield
  end

  def take_nested(actor, depth) = Pelton.run { step(actor) { take(actor, depth) } }

  def take_enumerate(actor, _)
    operation, value = new_operation
    Pelton.add_timer(rand * 0.001) { operation.succeed(value) }
    enumerator = Enumerator.new { |values| values << operation.await }
    got = enumerator.next
    problem("#{actor} enumerated #{got}, not #{value}") unless [value, STRUCK].include?(got)
  end

  def take_catch_and_throw(actor, _)
    got = catch(actor) do
      sleep 0.0001
      throw actor, :thrown
    end
    problem("#{actor} caught #{got}") unless got == :thrown
  end

  def take_begin_more(_, depth) = depth > 0 && begin_actor(depth - 1)

  def take_collect(_, _)
    return if GC.stress
    (rand < 0.2 && GC.respond_to?(:compact)) ? GC.compact : GC.start
  end

  def take_cancel_timer(_, _)
    timer = Pelton.add_timer(0.0005) { @calls << [:timer, timer.__id__] }
    sleep 0.0005
    cancelled = timer.cancel
    problem("a cancelled timer is active") if timer.active?
    @operations.empty? || cancelled
  end

  def take_signal(_, _)
    Process.kill(:USR1, Process.pid) if @signals
  end

  # A fiber that no other will resume.
  def take_leave(_, _) = Fiber.new { Timeout.timeout(0.001) { Fiber.yield } }.resume

  # A parked chain of three fibers. Ruby may run a trap handler between a fiber's arrival and its look at the value that
  # it was given. Then the fiber sees the handler's own value: STRUCK from the fiber that the handler resumed, nil when
  # the handler waited.
  def take_resume_chain(actor, _)
    got = Fiber.new { Fiber.new { sleep(0.0002) && :inner }.resume }.resume
    possible = @signals ? [:inner, STRUCK, nil] : [:inner]
    problem("#{actor} resumed a chain and got #{got.inspect}") unless possible.include?(got)
  end
end
