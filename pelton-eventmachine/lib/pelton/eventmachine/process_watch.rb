# frozen_string_literal: true

module EventMachine
  # A handler for {EventMachine.watch_process}.
  class ProcessWatch < Connection
    # @return [Integer] the process id
    attr_reader :pid

    # @private
    def self._bind(transport, arguments, block)
      super(transport, arguments, lambda do |watch|
        watch.instance_variable_set(:@pid, transport.pid)
        block&.call(watch)
      end)
    end

    # Never called: a watched process sends nothing.
    def receive_data(_data)
    end

    # Called when the process has ended. {#unbind} follows.
    def process_exited
    end

    # Never called: only systems with kqueue report forks.
    def process_forked
    end

    # Ends the watch. {#unbind} is called later.
    def stop_watching = EventMachine.unwatch_pid(@signature)
  end

  # A watched process, which need not be a child of this one.
  # @private
  class ProcessWatchTransport < Transport
    # Seconds between two checks, on systems without pidfd.
    INTERVAL = 0.1

    attr_reader :pid

    def initialize(pid)
      super()
      @pid = pid
      Process.kill(0, pid)
      descriptor = ::Pelton::Reactor.current.pidfd(pid)
      descriptor ? wait(IO.for_fd(descriptor)) : check
    rescue Errno::ESRCH
      EventMachine._unregister(self)
      raise
    end

    def close(_after_writing)
      return if @unbound || @closing
      stop
      EventMachine.next_tick { unbind }
    end

    def abandon
      stop
      unbind
    end

    private

    def stop
      @closing = :now
      @readiness&.wanted = 0
      @timer&.cancel
      @io&.close
      @io = nil
    end

    def wait(io)
      @io = io
      @readiness = Readiness.new(io) { exited }
      @readiness.wanted = Readiness::READABLE
    end

    def check
      @timer = ::Pelton.add_timer(INTERVAL) do
        Process.kill(0, @pid)
        check
      rescue Errno::ESRCH
        exited
      end
    end

    def exited
      busy { @connection.process_exited }
      close(false)
    end
  end

  class << self
    # Watches a process.
    #
    # @param pid [Integer]
    # @param handler [Class, Module, nil] a subclass of {ProcessWatch}, or a module for one
    # @return [ProcessWatch]
    # @raise [Unsupported] when there is no such process
    def watch_process(pid, handler = nil, *arguments, &block)
      type = klass_from_handler(ProcessWatch, handler, *arguments)
      _on_reactor { type._bind(ProcessWatchTransport.new(Integer(pid)), arguments, block) }
    rescue Errno::ESRCH
      raise Unsupported, "error watching process #{pid}: no such process"
    end
    ruby2_keywords :watch_process

    # Ends the watch of a process.
    #
    # @param signature [Integer] of the watch
    # @return [nil]
    def unwatch_pid(signature)
      _transport(signature).close(false)
      nil
    end
  end
end
