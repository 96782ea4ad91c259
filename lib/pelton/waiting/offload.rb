# frozen_string_literal: true

module Pelton
  # A pool of threads for calls that would block the loop: a driver without hooks, a slow disk, a C library. It works in
  # any process, also after a fork, and its threads keep no process alive.
  #
  # Ruby's threads share the GVL, so a block that computes in Ruby slows the loop down even in a thread. Compute in
  # another process instead.
  class Offload
    # One block to run, and the operation that completes with it.
    class Job
      attr_reader :operation

      # @param slots [Thread::SizedQueue] the queue in which the job has a slot until it begins
      def initialize(block, slots)
        @operation = Operation.new
        @block = block
        @slots = slots
        @error = Error.new("the offloaded block ended its thread")
      end

      def perform
        @slots.pop(true)
        return unless (block = @block)
        begin
          value = block.call
          @error = nil
        rescue Exception => @error # standard:disable Lint/RescueException -- the caller gets it
        ensure # runs even when the block ends the thread
          @error ? @operation.fail(@error) : @operation.succeed(value)
        end
      end

      # The caller waits no more: a job that has not begun never does, and the result or error of another one is
      # dropped.
      def abandon
        @block = nil
        @operation.succeed(nil)
        @operation.errback {}
      end
    end
    private_constant :Job

    # @return [Integer] how many threads there may be. They are started one by one, when there is work for them
    attr_reader :concurrency

    # @return [Integer] how many blocks may wait for a thread. Beyond that {#call} waits for a free slot
    attr_reader :queue

    # @raise [ArgumentError] a number is no positive integer
    def initialize(concurrency: 20, queue: 1000)
      @concurrency = positive("concurrency", concurrency)
      @queue = positive("queue", queue)
      start_afresh
    end

    # @param concurrency [Integer]
    # @raise [ArgumentError] it is no positive integer
    def concurrency=(concurrency)
      @concurrency = positive("concurrency", concurrency)
    end

    # @param queue [Integer]
    # @raise [ArgumentError] it is no positive integer
    def queue=(queue)
      @queue = @slots.max = positive("queue", queue)
    end

    # Runs the block in a thread and waits for it.
    #
    # @param timeout [Numeric, nil] seconds; after that the block still runs to its end, but its value or error is
    #   dropped
    # @return the block's value
    # @raise the error that the block raises
    # @raise [TimeoutError] when the time is over first
    # @asynchronous
    def call(timeout: nil, &block)
      if timeout
        return Reactor.current.timeout_after(timeout, TimeoutError,
          "offload: not done within #{timeout} s") { call(&block) }
      end
      job = wait_for_slot(block)
      begin
        value = job.operation.await
        waited = true
        value
      ensure
        job.abandon unless waited
      end
    end

    # As {#call}, for a block that uses the caller's memory: an exception that is raised in the caller meanwhile waits
    # for the block's end. A caller that is given up, because the reactor stops, blocks its thread until then.
    # @asynchronous
    def call_to_end(&block)
      # The turn is taken by the block, or by a caller that leaves first
      turn, over = Thread::Queue.new([true]), Thread::Queue.new
      operation = wait_for_slot(-> { take(turn) && outcome(block).tap { over << true } }).operation
      begin
        value, error = operation.await
      rescue Exception => interruption # standard:disable Lint/RescueException -- raised below
        first ||= interruption
        retry unless operation.done?
      end
      done = true
      raise first || error if first || error
      value
    ensure
      wait_outside(over) unless done || take(turn)
    end

    # @return [Hash{Symbol => Integer}] `concurrency`, `threads`, `idle` ones among them, `queue`, and `queued` blocks
    def stats
      forked
      {concurrency: @concurrency, threads: @threads.size, idle: @jobs.num_waiting, queue: @queue, queued: @jobs.size}
    end

    private

    def positive(name, number)
      unless number.is_a?(Integer) && number.positive?
        raise ArgumentError, "Offload #{name}: must be a positive integer, not #{number.inspect}"
      end
      number
    end

    def start_afresh
      @pid = Process.pid
      @threads = []
      @jobs = Thread::Queue.new
      @slots = Thread::SizedQueue.new(@queue)
    end

    def take(turn)
      turn.pop(true)
    rescue ThreadError
      nil
    end

    # On a fiber that calls no hooks.
    def wait_outside(over) = Fiber.new(blocking: true) { over.pop }.resume

    # In a child after a fork the threads are gone, and their jobs belong to the parent.
    def forked
      start_afresh unless @pid == Process.pid
    end

    def wait_for_slot(block)
      forked
      job = Job.new(block, @slots)
      slot = @slots.push(true)
      slot = @jobs.push(job) && nil # the job gives it back
      add_thread
      job
    ensure
      slot&.pop(true)
    end

    def outcome(block)
      [block.call, nil]
    rescue Exception => error # standard:disable Lint/RescueException -- the caller gets it
      [nil, error]
    end

    def add_thread
      @threads.select!(&:alive?)
      @threads << Thread.new { work } if @jobs.size > @jobs.num_waiting && @threads.size < @concurrency
    end

    def work
      Thread.current.name = "pelton offload"
      Thread.current.report_on_exception = false
      while (job = @jobs.pop)
        job.perform
      end
    end

    # The pool of {Pelton.offload}.
    POOL = new
  end

  class << self
    # Runs the block in a thread of {Offload::POOL}, so that the loop goes on while the block blocks. Outside {run} the
    # block is simply called.
    #
    # @param timeout [Numeric, nil] seconds; after that the block still runs to its end, but its value or error is
    #   dropped
    # @return the block's value
    # @raise the error that the block raises, with its backtrace
    # @raise [TimeoutError] when the time is over first
    # @raise [ArgumentError] without a block
    # @asynchronous
    def offload(timeout: nil, &block)
      raise ArgumentError, "offload needs a block" unless block
      if timeout || (running? && Fiber.current_scheduler)
        Offload::POOL.call(timeout: timeout, &Inherited.block(block))
      else
        yield
      end
    end
  end
end
