# frozen_string_literal: true

require "shellwords"

# Child processes.
module EventMachine
  # A child's standard input and output. When the output has ended, the child's end is awaited before unbind is called,
  # so that unbind finds its status.
  # @private
  class ChildTransport < StreamTransport
    # A child whose connection is closed gets these signals after so many seconds, if it has not ended before.
    SIGNALS = {TERM: 0.25, KILL: 0.5}.freeze

    # @param command [Array<String>]
    def initialize(command)
      ours, theirs = UNIXSocket.pair
      @pid = start(command, theirs)
      theirs.close
      super(::Pelton::Stream.for_fd(ours.tap { |socket| socket.autoclose = false }.fileno))
    end

    attr_reader :pid, :status

    def unbind(errno = nil)
      return super if @reaped || @unbound
      return @pending_unbind = [errno] if @busy
      return if @reaping
      @reaping = true
      return give_up(errno) if EventMachine.stopping?
      ::Pelton.spawn(detached: true) do
        @status = reap
        @reaped = true
        EventMachine.next_tick { unbind(errno) }
      end
    end

    # Closes it, because the loop ends.
    def abandon
      super
      give_up(nil)
    end

    private

    # A command that cannot be run ends with the status 127, as in a shell.
    def start(command, socket)
      Process.spawn([command.first, command.first], *command.drop(1), in: socket, out: socket)
    rescue SystemCallError
      Process.spawn("exit 127", in: socket, out: socket)
    end

    def reap
      SIGNALS.each do |signal, seconds|
        return ::Pelton.timeout(seconds) { Process::Status.wait(@pid) }
      rescue ::Pelton::TimeoutError
        Process.kill(signal, @pid)
      end
      Process::Status.wait(@pid)
    rescue SystemCallError # the program has waited for it itself
      nil
    end

    def give_up(errno)
      return if @reaped
      @reaped = true
      @status = Process::Status.wait(@pid, Process::WNOHANG)
      unless @status
        Process.kill(:TERM, @pid)
        Process.detach(@pid)
      end
      unbind(errno)
    rescue SystemCallError
      unbind(errno)
    end
  end

  # A Deferrable that succeeds with a child's output.
  class DeferrableChildProcess < Connection
    include Deferrable

    # @param command [String, Array<String>]
    # @return [DeferrableChildProcess]
    def self.open(command) = EventMachine.popen(command, self)

    def initialize
      super
      @data = []
    end

    # Collects the child's output.
    def receive_data(data) = @data << data

    # Succeeds with the output when the child has ended.
    def unbind = succeed(@data.join)
  end

  # The handler for {EventMachine.system}.
  class SystemCmd < Connection
    def initialize(callable)
      super
      @callable = callable
      @output = []
    end

    # Collects the child's output.
    def receive_data(data) = @output << data

    # Calls the block with the output and the child's status.
    def unbind = @callable&.call(@output.join, get_status)
  end

  class << self
    # Runs a command, without a shell. The connection sends to the command's standard input and receives its output.
    #
    # @param command [String, Array<String>]
    # @return [Connection]
    def popen(command, handler = nil, *arguments, &block)
      type = klass_from_handler(Connection, handler, *arguments)
      words = command.is_a?(Array) ? command : Shellwords.split(command)
      _on_reactor do
        transport = ChildTransport.new(words)
        type._bind(transport, arguments, block).tap { transport.open }
      end
    end
    ruby2_keywords :popen

    # Runs a command, and calls the block with its output and its status.
    #
    # @param arguments [Array<String, Proc>] further words of the command; then, optionally, a Proc that gets the
    #   connection and may send input; then the callback, if it is not given as a block
    # @yieldparam output [String]
    # @yieldparam status [Process::Status]
    # @return [Integer] the child's pid
    def system(command, *arguments, &callback)
      callback ||= arguments.pop if arguments.last.is_a?(Proc)
      begins = arguments.pop if arguments.last.is_a?(Proc)
      command = [command, *arguments] unless arguments.empty?
      popen(command, SystemCmd, callback) { |connection| begins&.call(connection) }.get_pid
    end
  end
end
