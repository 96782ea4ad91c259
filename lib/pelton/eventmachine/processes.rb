# frozen_string_literal: true

require "shellwords"

# Children.
module EventMachine
  # A child's standard input and output. When its output ends, its end is waited for, for a while, before unbind is called:
  # so there is a status.
  # @private
  class ChildTransport < StreamTransport
    # Seconds until a child that has closed its output, or was closed, is asked to end; and until it is made to.
    PATIENCE = {TERM: 0.25, KILL: 0.5}.freeze

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
      return @late = [errno] if @busy
      return if @reaping
      @reaping = true
      return give_up(errno) if EventMachine.stopping?
      ::Pelton.spawn do
        @status = reap
        @reaped = true
        EventMachine.next_tick { unbind(errno) }
      end
    end

    # The loop ends.
    def abandon
      super
      give_up(nil)
    end

    private

    # What cannot be run ends as it would in a shell.
    def start(command, socket)
      Process.spawn([command.first, command.first], *command.drop(1), in: socket, out: socket)
    rescue SystemCallError
      Process.spawn("exit 127", in: socket, out: socket)
    end

    def reap
      PATIENCE.each do |signal, seconds|
        return ::Pelton.timeout(seconds) { Process::Status.wait(@pid) }
      rescue ::Pelton::TimeoutError
        Process.kill(signal, @pid)
      end
      Process::Status.wait(@pid)
    rescue SystemCallError # somebody else has waited for it
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

  # A child whose output is the value of a Deferrable.
  class DeferrableChildProcess < Connection
    include Deferrable

    # @param command [String, Array<String>]
    # @return [DeferrableChildProcess]
    def self.open(command) = EventMachine.popen(command, self)

    def initialize
      super
      @data = []
    end

    def receive_data(data)
      @data << data
    end

    def unbind
      succeed(@data.join)
    end
  end

  # What {EventMachine.system} runs.
  class SystemCmd < Connection
    def initialize(callable)
      super
      @callable = callable
      @output = []
    end

    def receive_data(data)
      @output << data
    end

    def unbind
      @callable&.call(@output.join, get_status)
    end
  end

  class << self
    # Runs a command, without a shell. What the connection sends is its standard input; its output is received.
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
    # @param arguments [Array<String, Proc>] words of the command; then, perhaps, a Proc that gets the connection and may
    #   send input; then the block, if it is not given as one
    # @yieldparam output [String]
    # @yieldparam status [Process::Status]
    # @return [Integer] the child's pid
    def system(command, *arguments, &callback)
      callback ||= arguments.pop if arguments.last.is_a?(Proc)
      begins = arguments.pop if arguments.last.is_a?(Proc)
      command = [command, *arguments] unless arguments.empty?
      popen(command, SystemCmd, callback) { |connection| begins&.call(connection) }.get_pid
    end

    def get_subprocess_pid(signature) = _transport(signature).pid

    def get_subprocess_status(signature) = _transport(signature).status
  end
end
