# frozen_string_literal: true

# Sees to it that no test hangs for ever and that nothing started by a test outlives it. It is a process of its own, not
# a thread: a thread would not run while C code keeps the GVL, and its mere presence would change what is tested. It is
# a grandchild, so that Process.waitall in a test does not wait for it.
module Guard
  # Raised in the main thread when a test's time is over. Not a StandardError: a rescue in the test must not swallow it.
  class Hung < Exception # rubocop:disable Lint/InheritException
  end

  SIGNAL = "ALRM"
  GRACE = 10 # seconds, from the deadline to the violent end, and again to SIGKILL

  class << self
    def start
      reader, @writer = IO.pipe
      @writer.sync = true
      @owner = tested = Process.pid
      Process.wait(fork { fork { turn(reader, tested) } && exit!(0) })
      reader.close
      Signal.trap(SIGNAL) { hung }
    end

    # Runs the block, which must end within so many seconds.
    def watch(name, seconds)
      @name = name
      notify_guard("watch #{seconds}")
      yield
    ensure
      @name = nil
      notify_guard("rest")
    end

    # Has the process killed when the tests are over, also when the tests are killed.
    def kill_at_end(pid) = notify_guard("kill #{pid}")

    private

    # A forked child of a test inherits the pipe, but must not write to it.
    def notify_guard(line)
      @writer.puts(line) if Process.pid == @owner
    end

    def hung
      return unless @name && Process.pid == @owner # the test has ended already, or this is a fork of its process
      warn "\n#{@name} hangs:"
      Thread.list.each { |thread| warn "", thread.inspect, thread.backtrace&.map { |line| "    #{line}" } }
      raise Hung, "#{@name} took longer than its deadline"
    end

    # Runs in the grandchild: reads lines until the pipe ends, and acts when no line comes in time.
    def turn(reader, tested)
      @writer.close
      [$stdin, $stdout].each { |io| io.reopen(File::NULL) }
      %w[INT TERM HUP].each { |name| Signal.trap(name, "IGNORE") }
      signals, limit, doomed = [], nil, []
      loop do
        unless IO.select([reader], nil, nil, limit)
          signal = signals.shift or break
          Process.kill(signal, tested)
          limit = GRACE
          next
        end
        verb, number = (reader.gets or break).split
        case verb
        when "watch" then signals, limit = [SIGNAL, "SEGV", "KILL"], Float(number)
        when "rest" then limit = nil
        when "kill" then doomed << Integer(number)
        end
      end
    rescue Errno::ESRCH
      nil # the tests ended meanwhile
    rescue => error
      warn error.full_message
    ensure
      doomed&.each { |pid| kill(pid) }
      exit!(0)
    end

    def kill(pid)
      Process.kill("KILL", pid)
    rescue Errno::ESRCH
      nil
    end
  end
end
