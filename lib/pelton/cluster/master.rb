# frozen_string_literal: true

module Pelton
  module Cluster
    # Keeps as many workers as wanted, and does what signals ask for:
    #
    # | signal | what happens |
    # |---|---|
    # | INT, TERM | workers finish what they do, then all ends; the second one ends all at once |
    # | USR1 | workers are replaced one after the other; each old one stops when the new one serves |
    # | USR2 | the master starts itself again with the same sockets; connections wait meanwhile |
    # | TTIN, TTOU | one worker more, one less |
    # | HUP | the block given to {#on_hangup} and the workers' are called: logs are opened again; without one as INT |
    class Master
      SIGNALS = %w[INT TERM USR1 USR2 TTIN TTOU HUP].freeze
      LONGEST_DELAY = 30.0 # seconds before a worker that dies soon is started again, at most
      SOON = 10 # seconds that a worker has served, or has not come up

      # What the master counts, to Prometheus: of each seat, and of all.
      SEATS = {
        "up" => Metrics::Family.new("gauge", "pelton_worker_up", "Whether a worker serves."),
        "restarts" => Metrics::Family.new("counter", "pelton_worker_restarts_total", "Workers that died and were started again.")
      }.freeze
      ALL = {"wanted" => Metrics::Family.new("gauge", "pelton_workers_wanted", "How many workers there should be.")}.freeze

      # @param listening [Sockets] closed when it stops
      # @param workers [Integer]
      # @param preload [Proc, nil] called once before the first worker is forked: what it loads is shared by all
      # @param load [Proc, nil] called in each worker's process before its reactor runs: loading may take as long as it likes
      # @param stop_timeout [Numeric] seconds a worker may take to finish when told to stop; then it is killed
      # @param boot_timeout [Numeric] seconds until a new worker must serve
      # @param worker_timeout [Numeric] seconds without a report after which a worker is taken for hung, and killed
      # @param command [Array<String>] how this program is started again (USR2)
      # @param before_fork [Proc, nil] in the master, each time
      # @param control [String, nil] the address of a {Control} socket
      # @param figures [Hash{String => Metrics::Family}] what the workers' figures are to Prometheus; others it is not shown
      # @yieldparam worker [Child] in the worker's process, inside {Pelton.run}
      def initialize(listening, workers:, preload: nil, load: nil, stop_timeout: 30, boot_timeout: 60,
        worker_timeout: 60, command: Sockets::PROGRAM, before_fork: nil, control: nil, figures: {}, &serve)
        raise ArgumentError, "workers: #{workers.inspect} is no positive number" unless workers.is_a?(Integer) && workers.positive?
        @listening = listening
        @wanted = workers
        @preload = preload
        @load = load
        @stop_timeout = stop_timeout
        @boot_timeout = boot_timeout
        @worker_timeout = worker_timeout
        @command = command
        @before_fork = before_fork
        @address = control
        @serve = serve
        @workers = []
        @to_replace = []
        @figures = figures
        @totals = Totals.new(figures.select { |_, family| %w[counter histogram].include?(family.type) }.keys)
        @lock = Mutex.new # what @workers and @totals say together
        @restarts = Hash.new(0) # of each seat
        @failures = Hash.new(0) # of each seat, one soon after the other
        @not_before = Hash.new(0.0)
        @signals = Thread::Queue.new
        @notifier = Notifier.new
      end

      # Sets what HUP does in the master; {Child#on_hangup} is what it does in the workers.
      def on_hangup(&block) = @on_hangup = block

      # @return [Integer] the exit status: 0, or 1 when no worker ever came up
      def run
        @preload&.call
        trap_signals
        @control = Control.new(@address, stats: -> { stats }, metrics: -> { metrics }) if @address
        until over?
          obey
          reap
          hurry
          replace
          fill
          wait
        end
        restart if @state == :restarting
        (@state == :failed) ? 1 : 0
      ensure
        @control&.close
        restore_signals
        @workers.each(&:kill)
      end

      # Any thread.
      def stats
        {
          pid: Process.pid, wanted: @wanted, restarts: @restarts.values.sum,
          workers: @workers.map do |worker|
            {index: worker.index, pid: worker.pid, ready: worker.ready?, stopping: worker.stopping?, stats: worker.stats}
          end
        }
      end

      # {stats} for Prometheus. Any thread.
      def metrics
        seats, up, totals = @lock.synchronize { [@restarts.dup, seats_up, @totals.with(@workers)] }
        Metrics.text(ALL, {{} => {"wanted" => @wanted}}) +
          Metrics.text(SEATS, (up.keys | seats.keys).sort.to_h { |index| [{worker: index}, {"up" => up[index], "restarts" => seats[index]}.compact] }) +
          Metrics.text(@figures, totals.transform_keys { |index| {worker: index} })
      end

      private

      # 1 or 0 of each seat that has a worker, or should have one.
      def seats_up
        ready, others = @workers.partition(&:ready?)
        (0...@wanted).to_h { |index| [index, 0] }.merge(others.to_h { |worker| [worker.index, 0] }, ready.to_h { |worker| [worker.index, 1] })
      end

      def log(message) = Pelton.logger.info("cluster: #{message}")

      def warn(message)
        Pelton.logger.warn("cluster: #{message}")
        nil
      end

      def running? = @state.nil?

      def over? = !running? && @workers.empty?

      # ---- signals ----------------------------------------------------------------------------------------------------

      def trap_signals
        @wake_reader, @wake_writer = IO.pipe
        @before = SIGNALS.to_h do |name|
          [name, Signal.trap(name) do
            @signals << name
            @wake_writer.write_nonblock(".", exception: false)
          end]
        end
      end

      def restore_signals
        @before&.each { |name, handler| Signal.trap(name, handler || "DEFAULT") }
        [@wake_reader, @wake_writer].each { |io| io&.close }
      end

      def obey
        until @signals.empty?
          case (name = @signals.pop)
          when "INT", "TERM" then running? ? stop(:stopped) : @workers.each(&:kill)
          when "USR1" then @preload ? stop(:restarting) : replace_all
          when "USR2" then stop(:restarting)
          when "TTIN" then @wanted += 1
          when "TTOU" then @wanted = [@wanted - 1, 1].max
          when "HUP" then @on_hangup ? hang_up : stop(:stopped)
          end
          log("#{name}, #{@wanted} workers wanted") if name.start_with?("TT")
        end
      end

      def hang_up
        @on_hangup.call
        @workers.each(&:hang_up)
      end

      def stop(state)
        return unless running?
        log((state == :restarting) ? "starts again" : "stops") unless state == :failed
        @notifier.public_send((state == :restarting) ? :reloading : :stopping)
        @state = state
        @workers.each { |worker| worker.stop(final: state != :restarting) }
        @listening.close unless state == :restarting # whoever connects now is refused, and not left behind
      end

      # ---- workers ----------------------------------------------------------------------------------------------------

      # The new worker; nil when it cannot be forked now, because the hook has failed or the system has no room. Those who serve
      # go on then.
      def start(index)
        @before_fork&.call
        worker = Worker.start(index) do |pipe|
          leave_the_masters_things
          Child.new(index, @listening, pipe).run(@load, &@serve)
        end
        @workers << worker
        worker
      rescue => error
        raise unless @told # something is wrong with the program
        delay = put_off(index, soon: true)
        warn("worker #{index} cannot be forked, and is tried again in #{[delay.round, 1].max} s: #{error.message} (#{error.class})")
      end

      # In the new process.
      def leave_the_masters_things
        restore_signals
        @before = @wake_reader = @wake_writer = nil
        @control&.forget
        @control = nil
        @workers.each { |worker| worker.pipe.close }
        @workers = []
      end

      # Has every seat a worker, and no seat that is not wanted?
      def fill
        return unless running?
        @wanted.times do |index|
          start(index) if at(index).empty? && Clock.now >= @not_before[index]
        end
        @workers.each { |worker| worker.stop if worker.index >= @wanted }
        tell_ready
      end

      # Those of a seat that are not about to end.
      def at(index) = @workers.select { |worker| worker.index == index && !worker.stopping? }

      def tell_ready
        return if @told || @workers.count(&:ready?) < @wanted
        @told = true
        log("#{@wanted} worker#{"s" if @wanted > 1} serve#{"s" if @wanted == 1} #{@listening.places.join(", ")} (pid #{Process.pid})")
        @notifier.ready
      end

      def reap
        ended = @workers.to_h { |worker| [worker, worker.reap] }.compact
        @lock.synchronize do
          @workers -= ended.keys
          ended.each_key { |worker| @totals.retire(worker) }
        end
        ended.each { |worker, status| lost(worker, status) unless worker.stopping? }
      end

      def lost(worker, status)
        cause = status.signaled? ? "was killed by signal #{status.termsig}" : "ended with status #{status.exitstatus}"
        died = "worker #{worker.index} (#{worker.pid}) #{cause}"
        return given_up(died) unless @told || worker.ready? || @workers.any?(&:ready?)
        if @replacement.equal?(worker)
          @replacement = nil
          replace_no_more
        end
        @restarts[worker.index] += 1
        delay = put_off(worker.index, soon: !worker.ready? || Clock.now - worker.started < SOON)
        warn("#{died}#{", a new one starts in #{delay.round} s" if delay.positive?}")
      end

      def given_up(reason)
        warn("#{reason} before any worker served: gives up")
        stop(:failed)
      end

      # The first that dies soon is replaced at once, those that follow it later and later. Returns the delay in seconds.
      def put_off(index, soon:)
        failures = soon ? @failures[index] + 1 : 0
        @failures[index] = failures
        delay = [2.0**[failures - 1, 0].max - 1, LONGEST_DELAY].min
        @not_before[index] = Clock.now + delay
        delay
      end

      # Those that take too long.
      def hurry
        @workers.each do |worker|
          if worker.stopping?
            worker.kill if Clock.now - worker.stopped > @stop_timeout
          elsif Clock.now - (worker.ready? ? worker.heard : worker.started) > (worker.ready? ? @worker_timeout : @boot_timeout)
            warn("worker #{worker.index} (#{worker.pid}) #{worker.ready? ? "has said nothing" : "does not come up"}: killed")
            worker.kill
          end
        end
      end

      # ---- replacing --------------------------------------------------------------------------------------------------

      def replace_all
        return if @replacement || !@to_replace.empty?
        log("replaces its workers")
        @to_replace = @workers.reject(&:stopping?)
      end

      # One after the other: the old one stops when the new one serves.
      def replace
        return unless running?
        if @replacement&.ready?
          at(@replacement.index).each { |worker| worker.stop unless worker.equal?(@replacement) }
          @replacement = nil
          log("all workers are new") if @to_replace.empty?
        end
        return if @replacement
        @to_replace.select! { |worker| @workers.include?(worker) && !worker.stopping? }
        return if @to_replace.empty?
        @replacement = start(@to_replace.shift.index)
        replace_no_more unless @replacement
      end

      def replace_no_more
        warn("the other workers are not replaced: a new one must come up first")
        @to_replace.clear
      end

      def restart
        @control&.close
        log("starts #{@command.join(" ")}")
        @listening.exec(@command)
      end

      # Until something happens, or something may be due.
      def wait
        @notifier.alive if @notifier.interval
        limit = [1.0, @notifier.interval, *waits].compact.min
        readable, = IO.select([@wake_reader, *@workers.map(&:pipe)], nil, nil, [limit, 0.01].max)
        @wake_reader.read_nonblock(4096, exception: false)
        @workers.each { |worker| worker.hear if readable&.include?(worker.pipe) }
      end

      # Seconds until workers that died at once may be started again; soon, where one's end is about to be seen.
      def waits
        delays = @not_before.values.map { |time| time - Clock.now }.select(&:positive?)
        (@workers.any? { |worker| worker.pipe.closed? || worker.stopping? }) ? [0.05, *delays] : delays
      end
    end
  end
end
