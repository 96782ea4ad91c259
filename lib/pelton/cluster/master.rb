# frozen_string_literal: true

module Pelton
  module Cluster
    # Keeps the wanted number of workers running, and handles signals:
    #
    # | signal | effect |
    # |---|---|
    # | INT, TERM | the workers finish their requests, and all end; the second signal ends all at once |
    # | USR1 | the workers are replaced one after the other; each old one stops when the new one serves |
    # | USR2 | the master starts itself again with the same sockets; connections wait meanwhile |
    # | TTIN, TTOU | one worker more, one less. A worker that gets TTIN itself writes its tasks to Pelton.logger |
    # | HUP | the blocks of {#on_hangup} and {Child#on_hangup} are called, to open logs again; without a block as INT |
    class Master
      SIGNALS = %w[INT TERM USR1 USR2 TTIN TTOU HUP].freeze
      ANSWER_TIMEOUT = 0.95 # seconds for the workers to answer a question: a little less than the second that Kubernetes waits
      STANDSTILL = 10 # seconds after which the master's own loop, which turns once a second, counts as hung
      EARLY = 10 # seconds; a worker that dies before has died early

      # The master's own counters as metric families for Prometheus: of each worker, and of all.
      EACH = {
        "up" => Metrics::Family.new("gauge", "pelton_worker_up", "Whether a worker serves."),
        "restarts" => Metrics::Family.new("counter", "pelton_worker_restarts_total", "Workers that died and were started again."),
        "memory_replacements" => Metrics::Family.new("counter", "pelton_worker_memory_replacements_total", "Workers that were replaced because of their memory."),
        "memory" => Metrics::Family.new("gauge", "pelton_worker_memory_bytes", "Resident memory of a worker.")
      }.freeze
      ALL = {"wanted" => Metrics::Family.new("gauge", "pelton_workers_wanted", "How many workers there should be.")}.freeze

      # @param listening [Sockets] closed when the master stops
      # @param workers [Integer] the number of workers
      # @param preload [Proc, nil] called once before the first worker is forked: all workers share the memory of what it loads
      # @param load [Proc, nil] called in each worker's process before its reactor runs: it may take its time
      # @param stop_timeout [Numeric] seconds for a worker to finish its requests; then it is killed
      # @param boot_timeout [Numeric] seconds until a new worker must serve
      # @param worker_timeout [Numeric] seconds without a report after which a worker counts as hung, and is killed
      # @param memory [Numeric, nil] bytes of memory beyond which a worker is replaced, see {Memory}; nil: no limit
      # @param memory_after [Numeric] seconds of life before which no worker is replaced because of its memory
      # @param command [Array<String>] the command line to start this program again (USR2)
      # @param before_fork [Proc, nil] called in the master before each fork
      # @param control [String, nil] the address of a {Control} socket
      # @param families [Hash{String => Metrics::Family}] the workers' stats as metric families for Prometheus, which does not
      #   get other stats
      # @param name [#call] makes the name that the log has for an address
      # @yieldparam worker [Child] in the worker's process, inside {Pelton.run}
      # @raise [ArgumentError] the number of workers is not positive
      def initialize(listening, workers:, preload: nil, load: nil, stop_timeout: 30, boot_timeout: 60,
        worker_timeout: 60, memory: nil, memory_after: 60, command: Sockets::PROGRAM, before_fork: nil, control: nil, families: {}, name: :itself.to_proc, &serve)
        raise ArgumentError, "workers: must be a positive integer, not #{workers.inspect}" unless workers.is_a?(Integer) && workers.positive?
        @listening = listening
        @wanted = workers
        @preload = preload
        @load = load
        @stop_timeout = stop_timeout
        @boot_timeout = boot_timeout
        @worker_timeout = worker_timeout
        @memory = Memory.new(memory || Float::INFINITY, memory_after)
        @command = command
        @before_fork = before_fork
        @address = control
        @name = name
        @serve = serve
        @workers = []
        @to_replace = []
        @families = families
        @totals = Totals.new(Metrics.counters(families))
        @lock = Mutex.new # keeps @workers and @totals consistent
        @restarts = Restarts.new
        @signals = Thread::Queue.new
        @notifier = Notifier.new
      end

      # Calls the block in the master when HUP comes. The workers have {Child#on_hangup}.
      def on_hangup(&block) = @on_hangup = block

      # @return [Integer] the exit status: 0, or 1 when no worker ever came up
      def run
        @preload&.call
        trap_signals
        @turned = Clock.now
        @control = Control.new(@address, stats: -> { stats }, metrics: -> { metrics }, tasks: -> { tasks }, live: -> { standstill }, ready: -> { obstacle }) if @address
        until over?
          handle_signals
          reap
          kill_overdue
          replace_grown
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

      # The state of the master and its workers. It may be called from any thread.
      #
      # @return [Hash{Symbol => Object}]
      def stats
        {
          pid: Process.pid, wanted: @wanted, restarts: @restarts.counts.values.sum, memory_replacements: @memory.counts.values.sum,
          workers: @workers.map do |worker|
            {index: worker.index, pid: worker.pid, ready: worker.ready?, stopping: worker.stopping?, memory: Memory.of(worker.pid), stats: worker.stats}
          end
        }
      end

      # The same for Prometheus. It may be called from any thread.
      #
      # @return [String]
      def metrics
        each, totals = @lock.synchronize { [counters, @totals.with(@workers)] }
        Metrics.text(ALL, {{} => {"wanted" => @wanted}}) +
          Metrics.text(EACH, each.transform_keys { |index| {worker: index} }) +
          Metrics.text(@workers.map(&:families).reduce(@families, :merge), totals.transform_keys { |index| {worker: index} })
      end

      # The tasks of the workers by their index; nil for a worker that does not answer within a second. It may be called from any
      # thread but the master's.
      #
      # @return [Hash{Integer => Array<Hash>, nil}]
      def tasks
        asked = @workers.select(&:ready?).each(&:ask_for_tasks)
        wait_for_answers { asked.all?(&:tasks) }
        asked.to_h { |worker| [worker.index, worker.tasks] }
      end

      # Why no requests may come: one worker that is ready is enough. It may be called from any thread but the master's.
      #
      # @return [String, nil] nil: they may
      def obstacle
        return "it stops" unless running?
        asked = @workers.select(&:ready?).each(&:ask_for_readiness)
        return "no worker serves yet" if asked.empty?
        wait_for_answers { asked.any? { |worker| worker.readiness == [nil] } || asked.all?(&:readiness) }
        reasons = asked.map { |worker| worker.readiness ? worker.readiness.first : "worker #{worker.index} does not answer" }
        reasons.first unless reasons.include?(nil)
      end

      private

      # Why the master does not work.
      def standstill = ("the master has stood still for #{(Clock.now - @turned).round} s" if Clock.now - @turned > STANDSTILL)

      def wait_for_answers
        limit = Clock.now + ANSWER_TIMEOUT
        sleep 0.01 until yield || Clock.now > limit
      end

      # The master's own counters by the workers' index.
      def counters
        up = workers_up
        memory = @workers.reject(&:stopping?).to_h { |worker| [worker.index, Memory.of(worker.pid)] }
        rows = {"up" => up, "restarts" => @restarts.counts, "memory_replacements" => @memory.counts, "memory" => memory}
        rows.values.flat_map(&:keys).uniq.sort.to_h { |index| [index, rows.transform_values { |row| row[index] }.compact] }
      end

      # By index, 1 if the worker serves, and otherwise 0.
      def workers_up
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

      def handle_signals
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
        @listening.close unless state == :restarting # new connections must be refused, not left waiting in the backlog
      end

      # ---- workers ----------------------------------------------------------------------------------------------------

      # Forks a worker. Returns nil when the hook fails, or the system cannot fork now; the other workers go on then.
      def start(index)
        @before_fork&.call
        worker = Worker.start(index) do |pipe|
          drop_master_state
          Child.new(index, @listening, pipe).run(@load, &@serve)
        end
        @workers << worker
        worker
      rescue => error
        raise unless @announced # the program itself is broken
        delay = @restarts.delay(index, early: true)
        warn("worker #{index} cannot be forked, next try in #{[delay.round, 1].max} s: #{error.message} (#{error.class})")
      end

      # Called in the new process.
      def drop_master_state
        restore_signals
        @before = @wake_reader = @wake_writer = nil
        @control&.forget
        @control = nil
        @workers.each { |worker| worker.pipe.close }
        @workers = []
      end

      # Starts the workers that are missing, and stops those that are not wanted any more.
      def fill
        return unless running?
        @wanted.times do |index|
          start(index) if at(index).empty? && @restarts.due?(index)
        end
        @workers.each { |worker| worker.stop if worker.index >= @wanted }
        announce_ready
      end

      # The workers with an index, without those that are stopping.
      def at(index) = @workers.select { |worker| worker.index == index && !worker.stopping? }

      def announce_ready
        return if @announced || @workers.count(&:ready?) < @wanted
        @announced = true
        log("#{@wanted} worker#{"s" if @wanted > 1} serve#{"s" if @wanted == 1} #{@listening.places.map(&@name).join(", ")} (pid #{Process.pid})")
        @notifier.ready
      end

      def reap
        statuses = (Process.pid == 1) ? reap_all : {}
        ended = @workers.to_h { |worker| [worker, worker.reap(statuses[worker.pid])] }.compact
        @lock.synchronize do
          @workers -= ended.keys
          ended.each_key { |worker| @totals.retire(worker) }
        end
        ended.each { |worker, status| restart_later(worker, status) unless worker.stopping? }
      end

      # Process 1 of a container inherits the processes whose parents have ended, and nobody else waits for them.
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
        return give_up(died) unless @announced || worker.ready? || @workers.any?(&:ready?)
        if @replacement.equal?(worker)
          @replacement = nil
          stop_replacing
        end
        @lock.synchronize { @restarts.count(worker.index) }
        delay = @restarts.delay(worker.index, early: !worker.ready? || Clock.now - worker.started < EARLY)
        warn("#{died}#{", a new one starts in #{delay.round} s" if delay.positive?}")
      end

      def give_up(reason)
        warn("#{reason} before any worker served: gives up")
        stop(:failed)
      end

      # Kills workers that take too long to stop, to start, or to report.
      def kill_overdue
        @workers.each do |worker|
          if worker.stopping?
            worker.kill if Clock.now - worker.stopped > @stop_timeout
          elsif Clock.now - (worker.ready? ? worker.last_message : worker.started) > (worker.ready? ? @worker_timeout : @boot_timeout)
            warn("worker #{worker.index} (#{worker.pid}) #{worker.ready? ? "has not reported" : "does not come up"}: killed")
            worker.kill
          end
        end
      end

      # ---- replacing --------------------------------------------------------------------------------------------------

      def replace_all
        return if @renewing
        log("replaces its workers")
        @renewing = true
        @to_replace = @workers.reject { |worker| worker.stopping? || worker.equal?(@replacement) }
      end

      # Replaces one worker whose memory has passed the limit, if no other one is being replaced, started or stopped.
      def replace_grown
        return unless running? && !@replacement && @to_replace.empty? && @workers.all?(&:ready?)
        worker, bytes = @lock.synchronize { @memory.beyond_limit(@workers) }
        return unless worker
        warn("worker #{worker.index} (#{worker.pid}) has #{bytes >> 20} MB of memory, which is beyond the limit: a new one takes its place")
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
        warn(@renewing ? "the other workers are not replaced: a new one must come up first" : "the worker stays: the new one does not come up")
        @renewing = false
        @to_replace.clear
      end

      def restart
        @control&.close
        log("starts #{@command.join(" ")}")
        @listening.exec(@command)
      end

      # Waits for a signal or a message, or until something may be due.
      def wait
        @turned = Clock.now
        @notifier.alive if @notifier.interval
        limit = [1.0, @notifier.interval, *delays].compact.min
        readable, = IO.select([@wake_reader, *@workers.map(&:pipe)], nil, nil, [limit, 0.01].max)
        @wake_reader.read_nonblock(4096, exception: false)
        @workers.each { |worker| worker.read_messages if readable&.include?(worker.pipe) }
      end

      # Seconds until workers that died early may start again, and a short time while a worker is about to end.
      def delays
        (@workers.any? { |worker| worker.pipe.closed? || worker.stopping? }) ? [0.05, *@restarts.left] : @restarts.left
      end
    end
  end
end
