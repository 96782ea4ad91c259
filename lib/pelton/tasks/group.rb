# frozen_string_literal: true

module Pelton
  # The errors that came after the one that is raised: of the other tasks of a {Group}. Each error that a group raises
  # has this module.
  module Suppressed
    # @return [Array<Exception>] in the order in which they were raised
    def suppressed = @pelton_suppressed ||= []
  end
  private_constant :Suppressed

  # Tasks that end together. Made by {Pelton.group}.
  class Group
    include Enumerable

    # Interrupts the group's block when a task has failed.
    class Aborted < Cancelled
    end
    private_constant :Aborted

    # @private
    def initialize(concurrency, discard)
      @permits = Semaphore.new(concurrency) if concurrency
      @discard = discard
      @tasks = {}.compare_by_identity
      @transients = {}.compare_by_identity
      @ended = [] # for each
    end

    # Starts a task. Where as many tasks run as `concurrency:` allows, waits until one of them has ended.
    #
    # Any task may call it, also one of the group's own, until the group has ended. In a group with `concurrency:`, a
    # task of the group may wait for ever: for a permit that only itself could give back.
    #
    # @param name [#to_s, nil] see {Pelton.spawn}
    # @param transient [Boolean] whether the group does not wait for the task, but cancels it when all others have
    #   ended. Transient tasks do not count for `concurrency:`
    # @return [Task]
    # @raise [ArgumentError] without a block
    # @raise [Cancelled] when the group has been cancelled, or a task has failed
    # @raise [ClosedError] when the group has ended
    # @asynchronous with `concurrency:`
    def spawn(name: nil, transient: false, &block)
      raise ArgumentError, "spawn needs a block" unless block
      refuse
      @permits&.acquire unless transient
      start(name, transient, block)
    end

    # Cancels all tasks that run. More cannot be spawned. The group's block is not interrupted, and the group raises no
    # error for it.
    #
    # @return [nil]
    # @raise [Cancelled] from a task of the group
    def cancel
      @cancelled = true
      itself, others = [*@tasks.keys, *@transients.keys].partition { |task| task.equal?(Task.current) }
      [*others, *itself].each(&:_cancel_once)
      nil
    end

    # Calls the block with each task when it has ended, in the order of their ends, and returns when all have ended.
    # Tasks that have ended before are among them, transient tasks are not. Each task is passed on once.
    #
    # @yieldparam task [Task] which has succeeded, or was cancelled
    # @return [self, Enumerator]
    # @raise [Error] in a group that discards its tasks
    # @asynchronous
    def each
      raise Error, "a group with discard: true keeps no tasks" if @discard
      return to_enum(:each) unless block_given?
      wait_while { @ended.empty? && @tasks.any? }
      until @ended.empty? # no `loop`, which would rescue a StopIteration of the block
        yield @ended.shift
        wait_while { @ended.empty? && @tasks.any? }
      end
      self
    end

    # @return [Integer] tasks that run, without transient ones
    def size = @tasks.size

    # @private
    def _run
      @body = Fiber.current
      begin
        yield self
      rescue Exception => error # standard:disable Lint/RescueException
        fail_by(error)
      ensure # a break as well
        end_all
        raise @error, cause: @error.cause if @error
      end
    end

    private

    def refuse
      raise ClosedError, "the group has ended" if @closed
      raise Cancelled, "the group was cancelled" if @cancelled
    end

    def start(name, transient, block)
      refuse # it may have ended while spawn waited
      task = Pelton.spawn(name: name, transient: transient, &block)
    rescue Exception # standard:disable Lint/RescueException
      @permits&.release unless transient
      raise
    else
      (transient ? @transients : @tasks)[task] = true
      task.callback { ended(task) }.errback { |error| ended(task, error) }
    end

    def ended(task, error = nil)
      @transients.delete(task)
      regular = @tasks.delete(task)
      @permits.release if regular && @permits
      if error && !error.is_a?(Cancelled)
        fail_by(error)
      elsif regular && !@discard
        @ended << task
      end
      change, @change = @change, nil
      change&.succeed
    end

    # Waits until a task ends.
    # The operation is made before the look: a task may end in between, while a trap handler waits.
    def wait_while
      change = (@change ||= Operation.new)
      while yield
        change.await
        change = (@change ||= Operation.new)
      end
    end

    # Waits for all tasks. What interrupts the wait cancels them: the caller's cancellation, a time limit.
    def end_all
      @body, body = nil, @body
      Reactor.current.forget_interrupt(body, @aborted) if @aborted
      begin
        wait_while { @tasks.any? }
        @transients.each_key(&:_cancel_once)
        wait_while { @transients.any? }
      rescue Exception => error # standard:disable Lint/RescueException
        fail_by(error)
        retry
      end
      @closed = true
      @error.suppressed.each { |later| Pelton.report_error(later) } if @error.is_a?(Cancelled)
    end

    # The first error counts, and cancels all others.
    def fail_by(error)
      origin = error.instance_variable_get(:@pelton_origin) || error # each await of a task raises a copy of its error
      return if error.equal?(@aborted) || error.equal?(@error) || origin.equal?(@origin)
      return suppress(error) if @error
      @origin = origin
      @error = error.frozen? ? error.dup : error
      @error.extend(Suppressed)
      cancel
      return unless @body && !@body.equal?(Fiber.current)
      @aborted = Aborted.new("a task of the group has failed")
      Reactor.current.interrupt(@body, @aborted)
    end

    def suppress(error)
      @error.suppressed << error unless error.is_a?(Cancelled)
    end
  end

  class << self
    # Runs tasks that end together: returns when the block and all tasks that it has spawned in the group have ended.
    #
    # The first error, of a task or of the block, cancels all others. When they have ended, it is raised, and has the
    # errors of the others ({Suppressed#suppressed}). When the caller is cancelled, or a time limit around the group
    # passes, the group's tasks are cancelled as well, and the group waits for their end. Where no reactor runs, `group`
    # runs one.
    #
    #     Pelton.group do |group|
    #       user = group.spawn { fetch_user }
    #       mails = group.spawn { fetch_mails }
    #       [user.await, mails.await]
    #     end
    #
    # @param timeout [Numeric, nil] seconds for the block and all tasks
    # @param concurrency [Integer, nil] how many tasks run at a time: {Group#spawn} waits; nil: any number
    # @param discard [Boolean] whether the group forgets each task when it has ended, for groups with an endless number
    #   of tasks. {Group#each} cannot be used then
    # @yieldparam group [Group]
    # @return the block's value
    # @raise the first error of a task or of the block
    # @raise [TimeoutError] when the time is over
    # @raise [ArgumentError] without a block, and for a `concurrency:` below 1
    # @asynchronous
    def group(timeout: nil, concurrency: nil, discard: false, &block)
      raise ArgumentError, "group needs a block" unless block
      if concurrency && !(concurrency.is_a?(Integer) && concurrency >= 1)
        raise ArgumentError, "concurrency is 1 or more, or nil"
      end
      return run { group(timeout: timeout, concurrency: concurrency, discard: discard, &block) } unless running?
      self.timeout(timeout) { Group.new(concurrency, discard)._run(&block) }
    end
  end
end
