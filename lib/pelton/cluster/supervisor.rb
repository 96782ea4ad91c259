# frozen_string_literal: true

module Pelton
  module Cluster
    # Keeps the wanted number of workers running: starts those that are missing, and replaces those that died, hang, or
    # have too much memory. The master's thread alone calls its methods, but for {#snapshot}.
    class Supervisor
      EARLY = 10 # seconds; a worker that dies before has died early

      # What other threads may know, as it is at one time: the `workers`, how many are `wanted`, the `state`
      # ({Supervisor#state}), the numbers of `restarts` and `memory_replacements` by the workers' index, their `totals`
      # ({Totals#with}), and when the master last `turned`.
      Snapshot = Struct.new(:workers, :wanted, :state, :restarts, :memory_replacements, :totals, :turned)

      # @return [Integer] the wanted number of workers
      attr_reader :wanted

      # @return [Symbol, nil] nil: it runs; :stopped, :restarting, or :failed, when no worker ever came up
      attr_reader :state

      # @param listening [Sockets] closed when the workers stop
      # @param workers [Integer] the number of workers
      # @param load [Proc, nil] called in each worker's process before its reactor runs: it may take its time
      # @param stop_timeout [Numeric] seconds for a worker to finish its requests; then it is killed
      # @param boot_timeout [Numeric] seconds until a new worker must serve
      # @param worker_timeout [Numeric] seconds without a report after which a worker counts as hung, and is killed
      # @param memory [Numeric, nil] bytes of memory beyond which a worker is replaced, see {Memory}; nil: no limit
      # @param memory_after [Numeric] seconds of life before which no worker is replaced because of its memory
      # @param before_fork [Proc, nil] called in the master before each fork
      # @param forked [Proc, nil] called in each worker's process, which has inherited what the master holds
      # @param families [Hash{String => Metrics::Family}] see {Master#initialize}
      # @param name [#call] makes the name that the log has for an address
      # @yieldparam worker [Child] in the worker's process, inside {Pelton.run}
      # @raise [ArgumentError] the number of workers is not positive
      def initialize(listening, workers:, load: nil, stop_timeout: 30, boot_timeout: 60, worker_timeout: 60,
        memory: nil, memory_after: 60,
        before_fork: nil, forked: nil, families: {}, name: :itself.to_proc, &serve)
        unless workers.is_a?(Integer) && workers.positive?
          raise ArgumentError, "workers: must be a positive integer, not #{workers.inspect}"
        end
        @listening = listening
        @wanted = workers
        @load = load
        @stop_timeout = stop_timeout
        @boot_timeout = boot_timeout
        @worker_timeout = worker_timeout
        @memory = Memory.new(memory || Float::INFINITY, memory_after)
        @before_fork = before_fork
        @forked = forked
        @name = name
        @serve = serve
        @workers = []
        @to_replace = []
        @totals = Totals.new(Metrics.counters(families))
        @restarts = Restarts.new
        @notifier = Notifier.new
        @turned = Float::INFINITY # before the first turn
        @lock = Mutex.new # held to change what a snapshot shows
      end

      # @return [Snapshot] any thread may call it
      def snapshot
        @lock.synchronize do
          Snapshot.new(@workers.dup, @wanted, @state, @restarts.counts.dup, @memory.counts.dup, @totals.with(@workers),
            @turned)
        end
      end

      def running? = @state.nil?

      def over? = !running? && @workers.empty?

      # Does what is due.
      def turn
        @turned = Clock.now
        reap
        kill_overdue
        replace_grown
        replace
        fill
      end

      # Waits for an IO or a message, or until something may be due.
      def wait(io)
        @notifier.alive if @notifier.interval
        limit = [1.0, @notifier.interval, *delays].compact.min
        readable, = IO.select([io, *@workers.map(&:pipe)], nil, nil, [limit, 0.01].max)
        @workers.each { |worker| worker.read_messages if readable&.include?(worker.pipe) }
      end

      # @param number [Integer] there is one worker at least
      def wanted=(number)
        @wanted = [number, 1].max
      end

      # Has all workers finish their requests and end.
      #
      # @param state [Symbol] see {#state}
      def stop(state)
        return unless running?
        log((state == :restarting) ? "starts again" : "stops") unless state == :failed
        @notifier.public_send((state == :restarting) ? :reloading : :stopping)
        @state = state
        @workers.each { |worker| worker.stop(final: state != :restarting) }
        @listening.close unless state == :restarting # new connections must be refused, not left waiting in the backlog
      end

      # Ends all workers at once.
      def kill = @workers.each(&:kill)

      def hang_up = @workers.each(&:hang_up)

      # Replaces one worker after the other.
      def replace_all
        return if @renewing
        log("replaces its workers")
        @renewing = true
        @to_replace = @workers.reject { |worker| worker.stopping? || worker.equal?(@replacement) }
      end

      private

      def log(message) = Pelton.logger.info("cluster: #{message}")

      def warn(message)
        Pelton.logger.warn("cluster: #{message}")
        nil
      end

      # The workers with an index, without those that are stopping.
      def at(index) = @workers.select { |worker| worker.index == index && !worker.stopping? }

      # Seconds until workers that died early may start again, and a short time while a worker is about to end.
      def delays
        (@workers.any? { |worker| worker.pipe.closed? || worker.stopping? }) ? [0.05, *@restarts.left] : @restarts.left
      end

      # ---- starting --------------------------------------------------------------------------------------------------

      # Starts the workers that are missing, and stops those that are not wanted any more.
      def fill
        return unless running?
        @wanted.times do |index|
          start(index) if at(index).empty? && @restarts.due?(index)
        end
        @workers.each { |worker| worker.stop if worker.index >= @wanted }
        announce_ready
      end

      # Forks a worker. Returns nil when the hook fails, or the system cannot fork now; the other workers go on then.
      def start(index)
        @before_fork&.call
        worker = Worker.start(index) do |pipe|
          @forked&.call
          forget_others
          Child.new(index, @listening, pipe).run(@load, &@serve)
        end
        @lock.synchronize { @workers << worker }
        worker
      rescue => error
        raise unless @announced # the program itself is broken
        delay = @restarts.delay(index, early: true)
        warn("worker #{index} cannot be forked, next try in #{[delay.round, 1].max} s: #{error.message} " \
          "(#{error.class})")
      end

      # Called in a worker's process.
      def forget_others
        @workers.each { |worker| worker.pipe.close }
        @workers = []
      end

      def announce_ready
        return if @announced || @workers.count(&:ready?) < @wanted
        @announced = true
        log("#{@wanted} worker#{"s" if @wanted > 1} serve#{"s" if @wanted == 1} " \
          "#{@listening.places.map(&@name).join(", ")} (pid #{Process.pid})")
        @notifier.ready
      end

      # ---- ending ----------------------------------------------------------------------------------------------------

      def reap
        statuses = (Process.pid == 1) ? reap_all : {}
        ended = @workers.to_h { |worker| [worker, worker.reap(statuses[worker.pid])] }.compact
        @lock.synchronize do
          @workers -= ended.keys
          ended.each_key { |worker| @totals.retire(worker) }
        end
        ended.each { |worker, status| restart_later(worker, status) unless worker.stopping? }
      end

      # Process 1 of a container inherits the processes whose parents have ended, and must wait for them itself.
      #
      # @return [Hash{Integer => Process::Status}]
      def reap_all
        statuses = {}
        while (pid, status = Process.wait2(-1, Process::WNOHANG))
          statuses[pid] = status
        end
        statuses
      rescue Errno::ECHILD
        statuses
      end

      def restart_later(worker, status)
        cause = status.signaled? ? "was killed by signal #{status.termsig}" : "ended with status #{status.exitstatus}"
        died = "worker #{worker.index} (#{worker.pid}) #{cause}"
        return give_up(died) unless @announced || worker.ready? || hope?
        if @replacement.equal?(worker)
          @replacement = nil
          stop_replacing
        end
        @lock.synchronize { @restarts.count(worker.index) }
        delay = @restarts.delay(worker.index, early: !worker.ready? || Clock.now - worker.started < EARLY)
        warn("#{died}#{", a new one starts in #{delay.round} s" if delay.positive?}")
      end

      # Whether a worker serves, or one of the first is still booting: it need not fail as another one has, such as one
      # that was killed.
      def hope? = @workers.any? { |worker| worker.ready? || !@restarts.counts.key?(worker.index) }

      def give_up(reason)
        warn("#{reason} before any worker served: gives up")
        stop(:failed)
      end

      # Kills workers that take too long to stop, to start, or to report.
      def kill_overdue
        @workers.each do |worker|
          if worker.stopping?
            worker.kill if Clock.now - worker.stopped > @stop_timeout
          elsif Clock.now - (worker.ready? ? worker.last_message : worker.started) >
              (worker.ready? ? @worker_timeout : @boot_timeout)
            warn("worker #{worker.index} (#{worker.pid}) #{worker.ready? ? "has not reported" : "does not come up"}: " \
              "killed")
            worker.kill
          end
        end
      end

      # ---- replacing -------------------------------------------------------------------------------------------------

      # Replaces one worker whose memory has passed the limit, if no other one is being replaced, started or stopped.
      def replace_grown
        return unless running? && !@replacement && @to_replace.empty? && @workers.all?(&:ready?)
        worker, bytes = @lock.synchronize { @memory.beyond_limit(@workers) }
        return unless worker
        warn("worker #{worker.index} (#{worker.pid}) has #{bytes >> 20} MB of memory, which is beyond the limit: a " \
          "new one takes its place")
        @to_replace = [worker]
      end

      # Replaces one worker after the other: the old one stops when the new one serves.
      def replace
        return unless running?
        if @replacement&.ready?
          at(@replacement.index).each { |worker| worker.stop unless worker.equal?(@replacement) }
          @replacement = nil
        end
        return if @replacement
        @to_replace.select! { |worker| @workers.include?(worker) && !worker.stopping? }
        if @to_replace.empty?
          log("all workers are new") if @renewing
          return @renewing = false
        end
        @replacement = start(@to_replace.shift.index)
        stop_replacing unless @replacement
      end

      def stop_replacing
        if @renewing
          warn("the other workers are not replaced: a new one must come up first")
        else
          warn("the worker stays: the new one does not come up")
        end
        @renewing = false
        @to_replace.clear
      end
    end
  end
end
