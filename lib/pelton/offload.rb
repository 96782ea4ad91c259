# frozen_string_literal: true

module Pelton
  # A pool of threads for what would block the loop: a driver without hooks, a slow disk, a C library. It works in any
  # process, also after a fork, and its threads keep no process alive.
  #
  # Threads share one GVL: a block that computes in Ruby slows the loop down, in a thread as anywhere. Give that to other
  # processes.
  class Offload
    # One block to run, and the operation that its end settles.
    class Job
      attr_reader :operation

      # @param room [Thread::SizedQueue, nil] where the job has a place until it begins
      # @param reactor [Reactor, nil] what is kept running until it is done
      def initialize(block, room: nil, reactor: nil)
        @operation = Operation.new
        @block = block
        @room = room
        @reactor = reactor
        @error = Error.new("the offloaded block ended its thread")
      end

      def perform
        @room&.pop(true)
        return unless (block = @block)
        begin
          value = block.call
          @error = nil
        rescue Exception => @error # standard:disable Lint/RescueException -- it is the caller's to see
        ensure # runs even when the block ends the thread
          @error ? @operation.fail(@error) : @operation.succeed(value)
          @reactor&.release
        end
      end

      # Nobody waits any more: it is not begun, or its result is dropped, an error too.
      def abandon
        @block = nil
        @operation.succeed(nil)
        @operation.errback {}
      end
    end
    private_constant :Job

    # How many threads there may be. They are started one by one, when there is work for them.
    # @return [Integer]
    attr_accessor :size

    # How many jobs may wait for a thread. More of direct style wait for room; the other style is told beyond twice as
    # many.
    # @return [Integer]
    attr_reader :limit

    def initialize(size: 20, limit: 1000)
      @size = size
      @limit = limit
      start_afresh
    end

    # @param limit [Integer]
    def limit=(limit)
      @limit = @room.max = limit
    end

    # Runs the block in a thread and waits for it.
    #
    # @param timeout [Numeric, nil] seconds; then the block is left to itself, and what comes of it is dropped
    # @return the block's value
    # @raise whatever the block raises
    # @raise [TimeoutError]
    # @asynchronous
    def call(timeout: nil, &block)
      return Reactor.current.timeout_after(timeout, TimeoutError, "offload: not done within #{timeout} s") { call(&block) } if timeout
      job = wait_for_room(block)
      begin
        value = job.operation.await
        waited = true
        value
      ensure
        job.abandon unless waited
      end
    end

    # As {#call}, for a block that uses memory of the caller's: what is raised in the caller meanwhile waits for its end.
    # @asynchronous
    def call_to_end(&block)
      operation = wait_for_room(-> { outcome(block) }).operation
      begin
        value, error = operation.await
      rescue Exception => interruption # standard:disable Lint/RescueException -- it is raised below
        first ||= interruption
        retry unless operation.done?
      end
      raise first || error if first || error
      value
    end

    # Runs the block in a thread.
    #
    # @return [Operation] fails with {OverloadError} when too many wait already
    def later(&block)
      forked
      if @jobs.size < 2 * @limit
        push(Job.new(block, reactor: Reactor.current.tap(&:hold))).operation
      else
        Operation.new.fail(OverloadError.new("#{@jobs.size} offloaded blocks wait for a thread: slow down"))
      end
    end

    # @return [Hash{Symbol => Integer}]
    def stats
      forked
      {size: @size, threads: @threads.size, idle: @jobs.num_waiting, queued: @jobs.size, limit: @limit}
    end

    private

    def start_afresh
      @pid = Process.pid
      @threads = []
      @jobs = Thread::Queue.new
      @room = Thread::SizedQueue.new(@limit)
    end

    # In a child the threads are gone, and what they were to do is the parent's.
    def forked
      start_afresh unless @pid == Process.pid
    end

    def wait_for_room(block)
      forked
      @room.push(true)
      push(Job.new(block, room: @room))
    end

    def outcome(block)
      [block.call, nil]
    rescue Exception => error # standard:disable Lint/RescueException -- it is the caller's to see
      [nil, error]
    end

    def push(job)
      @jobs.push(job)
      @threads.select!(&:alive?)
      @threads << Thread.new { work } if @jobs.size > @jobs.num_waiting && @threads.size < @size
      job
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
    # Runs the block in a thread of {Offload::POOL}, so that the loop goes on while it blocks. Outside {run} it is simply
    # called.
    #
    # @param timeout [Numeric, nil] seconds; then the block is left to itself, and what comes of it is dropped
    # @param later [Boolean] return at once
    # @return the block's value; with `later:` the Operation, which settles with it
    # @raise whatever the block raises, with its backtrace
    # @raise [TimeoutError]
    # @asynchronous
    def offload(timeout: nil, later: false, &block)
      raise ArgumentError, "offload needs a block" unless block
      if later
        running? ? Offload::POOL.later(&block) : defer(nil, &block)
      elsif timeout || (running? && Fiber.current_scheduler)
        Offload::POOL.call(timeout: timeout, &block)
      else
        yield
      end
    end
  end
end
