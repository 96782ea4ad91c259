# frozen_string_literal: true

module Pelton
  # Work outside requests, in the same process: what a request need not wait for, and what is done again and again.
  # It is bounded, its errors are reported, and it is finished when the server stops. What must not be lost when the
  # process dies belongs into a table of the database, or into a gem for jobs.
  #
  #     BACKGROUND = Pelton::Background.new
  #
  #     BACKGROUND.every(60) { Session.where { expires_at < Time.now }.delete }   # begins with start
  #     BACKGROUND.run("mail to #{user.id}") { Mailer.welcome(user) }
  #
  # `pelton serve` gives it the rest of `shutdown_timeout` when the requests are done. What has not ended by then is
  # lost, and each piece of it is logged by its name; so is what is left when the reactor stops in another way. Each
  # process does its own periodic work (`on_boot { BACKGROUND.start }` in config/pelton.rb).
  class Background
    # More work waits than `queue:` allows.
    class Full < OverloadError
    end

    # A piece of work, and the seconds between two turns where it is periodic.
    Work = Struct.new(:name, :block, :interval, :timer, :task, :begun)
    HANDOVER = 10 # seconds for the loop to take work from another thread
    UNBEGUN = "it had not begun"
    STOPPED = "the server stops: no more work is taken"
    private_constant :Work, :HANDOVER, :UNBEGUN, :STOPPED

    @_present = {}.compare_by_identity

    class << self
      # The reactor of this process's server, which does the work that other threads hand in; nil where there is none,
      # and false once the server has stopped: what a thread handed in then would be lost with the process.
      # @private
      attr_accessor :reactor

      # @return [Boolean] false: no server has run here, and no reactor runs on this thread, so {#run} runs its block at
      #   once
      def available? = Pelton.running? || !reactor.nil?

      # Stops each one that has work on this thread's reactor: see {#stop}.
      #
      # @param timeout [Numeric, nil] seconds for all of them
      # @return [Boolean] whether everything has ended by itself
      # @asynchronous
      def stop_all(timeout: 20)
        here = @_present.to_a.filter_map { |one, reactor| one if reactor.equal?(Reactor.current) }
        Pelton.map(here) { |one| one.stop(timeout: timeout) }.all?
      end

      # Waits for the work of this thread's reactor: see {#drain}.
      #
      # @param timeout [Numeric, nil] seconds for all of them
      # @return [void]
      # @raise [TimeoutError]
      # @asynchronous
      def drain_all(timeout: 20)
        here = @_present.to_a.filter_map { |one, reactor| one if reactor.equal?(Reactor.current) }
        Pelton.map(here) { |one| one.drain(timeout: timeout) }
        nil
      end

      # @private
      attr_reader :_present
    end

    # @param concurrency [Integer] how many pieces of work run at a time
    # @param queue [Integer] how many more may wait, those with a time of their own among them
    # @raise [ArgumentError]
    def initialize(concurrency: 10, queue: 1000)
      unless [concurrency, queue].all?(Integer) && concurrency >= 1 && queue >= 0
        raise ArgumentError, "concurrency is 1 or more, queue 0 or more"
      end
      @concurrency = concurrency
      @most = concurrency + queue
      @delayed, @waiting, @running = Array.new(3) { {}.compare_by_identity }
      @periodic = []
    end

    # Runs the block in a task of its own, and returns at once. On a thread without a reactor, hands it to the server's;
    # where no server runs either, as in a console, runs it now.
    #
    # @param name [#to_s, nil] for {Pelton.tasks} and the log
    # @param after [Numeric] seconds until its turn
    # @return [nil]
    # @raise [Full] so many pieces wait already
    # @raise [ClosedError] the server stops; on another thread: it stops, or has stopped
    # @raise [TimeoutError] on another thread: the server's loop was blocked for 10 seconds
    # @raise the block's error where it runs now
    def run(name = nil, after: 0, &block)
      raise ArgumentError, "run needs a block" unless block
      return hand_over(name, after, block) unless Pelton.running?
      raise ClosedError, STOPPED if @closed
      raise Full, "#{size} pieces of work run or wait: raise concurrency:, or take less" if size >= @most
      take(Work.new(name || "background work", Inherited.block(block)), after)
      nil
    end

    # Runs the block again and again, from {start} on: so many seconds after its last end. An error is reported, and the
    # next turn comes all the same.
    #
    # @param seconds [Numeric] more than 0
    # @param name [#to_s, nil]
    # @return [nil]
    # @raise [ArgumentError]
    def every(seconds, name = nil, &block)
      unless block && seconds.is_a?(Numeric) && seconds > 0
        raise ArgumentError, "every needs a block, and more than 0 seconds"
      end
      @periodic << Work.new(name || "background work every #{seconds} s", block, seconds)
      take(@periodic.last, seconds) if @started
      nil
    end

    # Begins the periodic work of this process.
    #
    # @return [self]
    # @raise [NotRunningError] no reactor runs
    def start
      Reactor.require_running("Background#start")
      return self if @started
      @started = true
      @closed = false
      @periodic.each { |work| take(work, work.interval) }
      self
    end

    # Waits until nothing runs and nothing waits for its turn, as a test does. What has a later time of its own is left
    # alone.
    #
    # @param timeout [Numeric, nil] seconds
    # @return [void]
    # @raise [TimeoutError]
    # @asynchronous
    def drain(timeout: 20)
      await_idle(timeout)
      nil
    end

    # Takes no more work, and waits until what has begun, and what waits for its turn, has ended. What has a later time
    # of its own is given up at once.
    #
    # @param timeout [Numeric, nil] seconds. Then the rest is given up: it is cancelled
    # @return [Boolean] whether everything has ended by itself
    # @asynchronous
    def stop(timeout: 20)
      @closed = true
      @started = false
      complete = give_up(@delayed, "its time had not come")
      await_idle(timeout)
      complete
    rescue TimeoutError
      give_up_all
      false
    ensure
      forget&.cancel
    end

    # @return [Integer] pieces of work that run or wait, periodic ones among them
    def size = @running.size + @waiting.size + @delayed.size

    private

    # The operation is made before the look: the work may end in between, while a trap handler waits.
    def await_idle(timeout)
      idle = (@idle ||= Operation.new)
      idle.await(timeout: timeout) if @running.any?
    end

    def hand_over(name, after, block)
      reactor = Background.reactor
      return block.call && nil if reactor.nil?
      raise ClosedError, STOPPED unless reactor
      taken = Operation.new
      inherited = Inherited.block(block)
      given_up = false
      reactor.next_tick do
        next if given_up
        run(name, after: after, &inherited)
        taken.succeed
      rescue Error => error
        taken.fail(error)
      end
      taken.await(timeout: HANDOVER)
      nil
    ensure
      given_up = true # whoever was told that it was not taken may have done it in another way
    end

    def take(work, after)
      watch
      if after.positive?
        @delayed[work] = true
        work.timer = add_timer(work, after)
      elsif @running.size < @concurrency
        perform(work)
      else
        @waiting[work] = true
      end
    end

    # Work that somebody has handed in keeps Pelton.run going until it has ended, periodic work does not: as the timers
    # of Pelton.
    def add_timer(work, after)
      due = lambda do
        work.timer.cancel
        take(work, 0) if @delayed.delete(work)
      end
      work.interval ? Pelton.add_periodic_timer(after, &due) : Pelton.add_timer(after, &due)
    end

    def perform(work)
      @running[work] = true
      work.task = Pelton.spawn(name: work.name, transient: !!work.interval, detached: true) do
        work.begun = true
        work.block.call
      rescue => error
        Pelton.report_error(error, work.name)
      rescue Cancelled
        lost(work, "it is cancelled") if @running.key?(work) # the reactor stops
        raise
      ensure
        ended(work)
      end
    end

    def ended(work)
      work.task = work.begun = nil
      return unless @running.delete(work) # given up
      take(work, work.interval) if work.interval && !@closed
      following, = @waiting.shift
      return perform(following) if following
      return if @running.any?
      idle, @idle = @idle, nil
      idle&.succeed
    end

    # Sees the end of a reactor that was not announced.
    def watch
      @watch ||= begin
        Background._present[self] = Reactor.current
        Pelton.spawn(name: "end of background work", transient: true, detached: true) do
          sleep # until it is cancelled
        ensure
          if @watch.equal?(Task.current) # and not after stop
            forget
            give_up_all
          end
        end
      end
    end

    def forget
      Background._present.delete(self)
      @watch.tap { @watch = nil }
    end

    def give_up_all
      give_up(@delayed, "its time had not come")
      give_up(@waiting, UNBEGUN)
      begun, queued = @running.keys.partition(&:begun)
      give_up(@running, UNBEGUN, queued)
      give_up(@running, "it is cancelled", begun)
    end

    # @return [Boolean] whether nothing is lost by that: a turn that is not due is not waited for at the end
    def give_up(works, state, given_up = works.keys)
      given_up.each do |work|
        works.delete(work)
        work.timer&.cancel
        work.task&._cancel_once
      end
      given_up.reject { |work| work.interval && !work.task }.each { |work| lost(work, state) }.empty?
    end

    def lost(work, state) = Pelton.logger.warn("the process stops and loses: #{work.name} (#{state})")
  end
end
