# frozen_string_literal: true

# A random program of fibers, made from a seed: tasks, callbacks, timers, fibers of the user's own, threads, pipes, locks,
# cancelling and errors, mixed. It keeps a model of what must come of it:
#
# - each step that begins ends, once, and its ensure runs once;
# - an error reaches the fiber it was meant for, and no other;
# - each task is settled once, and its callbacks are called once;
# - nothing is left parked, and run returns.
class RandomProgram
  Planned = Class.new(StandardError)

  attr_reader :complaints

  def initialize(seed, tasks: 12, steps: 6)
    @random = Random.new(seed)
    @task_count = tasks
    @steps = steps
    @complaints = []
    @begun = @ended = @called = @settled = 0
    @cancelled = {}
    @tasks = []
    @mutex = Mutex.new
    @queue = Queue.new
    @operations = []
    @unheard = []
  end

  # Runs it. Returns the complaints: empty when the model holds.
  def run
    Pelton.on_error { |error| @unheard << error }
    value = Pelton.run(grace: 10) do
      @task_count.times { |id| @tasks << spawn_task(id) }
      pusher = Pelton.add_periodic_timer(0.0005) { @queue << :ball if @queue.num_waiting > 0 }
      @tasks.each { |task| settle(task) }
      pusher.cancel
      :over
    end
    check(value)
    @complaints
  ensure
    Pelton.on_error
  end

  private

  def check(value)
    complain "run returned #{value.inspect}" unless value == :over
    complain "#{@begun} steps began, #{@ended} ended" unless @begun == @ended
    complain "#{@tasks.size} tasks, #{@settled} settled" unless @settled == @tasks.size
    complain "#{@called} callbacks of #{@tasks.size} tasks were called" unless @called == @tasks.size
    complain "#{Pelton.stats[:parked]} fibers are parked" unless Pelton.stats[:parked] == 0
    # Who was cancelled does not hear of the error of a task that it started, nor settles what it would have settled.
    unheard = @unheard.reject { |error| error.message =~ /\Ainner (\d+)\z/ && @cancelled[$1.to_i] }
    complain "nobody heard of #{unheard.inspect}" unless unheard.empty?
    wrong = @operations.reject { |id, calls| calls.size == 1 || (@cancelled[id] && calls.empty?) }
    complain "operations of #{wrong.map(&:first)} were not settled once" unless wrong.empty?
  end

  def complain(text) = @complaints << text

  def spawn_task(id)
    task = Pelton.spawn do
      @steps.times { step(id, 2) }
      id
    end
    task.callback { @called += 1 }
    task.errback { @called += 1 }
    task
  end

  def settle(task)
    value = task.await
    complain "task #{@tasks.index(task)} returned #{value.inspect}" unless value == @tasks.index(task)
  rescue Planned, Pelton::Cancelled => error
    id = @tasks.index(task)
    complain "task #{id} got the error of #{error.message}" unless error.is_a?(Pelton::Cancelled) ? @cancelled[id] : error.message == id.to_s
  ensure
    @settled += 1
  end

  STEPS = %i[nap zero_nap lock pop_ball thread pipe own_fiber tick_and_wait timer_and_wait await_other nested schedule
    cancel_other rescued_error collect ready_work shared_operation timed_out process_pending].freeze

  def step(id, depth)
    name = STEPS[@random.rand(STEPS.size)]
    @begun += 1
    begin
      send(name, id, depth)
    rescue Planned => error
      complain "the error of #{error.message} in a step of #{id}" unless error.message == id.to_s
      raise
    rescue Pelton::Cancelled
      complain "task #{id} was not cancelled" unless @cancelled[id]
      raise
    rescue => error
      complain "#{name}: #{error.class}: #{error.message}"
    ensure
      @ended += 1
    end
  end

  def nap(*) = sleep(@random.rand * 0.002)

  def zero_nap(*) = sleep(0)

  def lock(_, _) = @mutex.synchronize { sleep(@random.rand * 0.0005) }

  def pop_ball(*) = (complain "no ball" unless @queue.pop == :ball)

  def thread(id, _) = (complain "the thread's value" unless Thread.new { id.tap { Thread.pass } }.value == id)

  def pipe(id, _)
    reader, writer = IO.pipe
    Pelton.next_tick { write_and_close(writer, id) }
    complain "the pipe's bytes" unless reader.read == id.to_s
  ensure
    reader&.close
  end

  def write_and_close(writer, id)
    writer << id.to_s
    writer.close
  rescue Errno::EPIPE
    complain "nobody reads what #{id} writes" unless @cancelled[id]
  end

  # A fiber as em-synchrony's users have it: it yields, and a callback resumes it.
  def own_fiber(id, depth)
    done = Pelton::Operation.new
    fiber = Fiber.new do
      got = Fiber.yield
      step(id, depth - 1) if depth > 0 && @random.rand(3) == 0
      done.succeed(got)
    rescue Planned, Pelton::Cancelled => error
      done.fail(error)
    end
    fiber.resume
    Pelton.next_tick { fiber.resume(id) }
    complain "the fiber's value" unless done.await == id
  end

  def tick_and_wait(id, _)
    operation = watched_operation(id)
    Pelton.next_tick { sleep(0) && operation.succeed(id) }
    complain "the tick's value" unless operation.await == id
  end

  def timer_and_wait(id, _)
    operation = watched_operation(id)
    Pelton.add_timer(@random.rand * 0.001) { operation.succeed(id) }
    complain "the timer's value" unless operation.await == id
  end

  # Counts how often its callback or errback is called: once.
  def watched_operation(id)
    calls = []
    @operations << [id, calls]
    operation = Pelton::Operation.new
    operation.callback { calls << 1 }
    operation.errback { calls << 1 }
    operation
  end

  def await_other(id, _)
    other = @tasks[@random.rand(id + 1)] # an older one: so no two wait for each other
    return if other.nil? || other.equal?(@tasks[id])
    other.await
  rescue Planned, Pelton::Cancelled => error
    raise if @cancelled[id] && error.is_a?(Pelton::Cancelled)
    # the other one's end, of which we only heard
  end

  def nested(id, depth) = Pelton.run { step(id, depth - 1) if depth > 0 }

  def schedule(id, _)
    operation = watched_operation(id)
    Fiber.schedule { sleep(@random.rand * 0.0005) && operation.succeed(id) }
    complain "the scheduled fiber's value" unless operation.await == id
  end

  def cancel_other(id, _)
    return unless @random.rand(4) == 0
    other = id + 1 + @random.rand(@task_count - id)
    return unless @tasks[other] && other != id && !@tasks[other].done?
    @cancelled[other] = true
    @tasks[other].cancel
  end

  def rescued_error(id, _)
    return unless @random.rand(3) == 0
    raise Planned, id.to_s if @random.rand(6) == 0
    begin
      Pelton.spawn { nap and raise Planned, "inner #{id}" }.await
      complain "the inner error was lost"
    rescue Planned => error
      raise unless error.message == "inner #{id}"
    end
  end

  def collect(*) = (@random.rand(8) == 0) ? GC.compact : GC.start(full_mark: false)

  # Ready at each call: the budget must let others go on.
  def ready_work(_, _)
    @readers ||= IO.pipe.tap { |_, writer| writer << "x" * 4096 }
    20.times { Pelton.next_tick {} }
    sleep(0)
  end

  def shared_operation(id, _)
    operation = watched_operation(id)
    heirs = Array.new(3) { Pelton.spawn { operation.await } }
    Pelton.next_tick { operation.succeed(id) }
    complain "the heirs' values" unless heirs.map(&:await) == [id] * 3
  end

  def timed_out(id, _)
    Pelton.timeout(0.0005) { sleep(5) }
    complain "no timeout"
  rescue Pelton::TimeoutError
    id
  end

  def process_pending(*) = Pelton::Reactor.current.yield
end
