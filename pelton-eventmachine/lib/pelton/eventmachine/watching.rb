# frozen_string_literal: true

# Connections on descriptors that the program has opened.
module EventMachine
  # A stream on a copy of the program's descriptor. When it is closed, it closes the program's IO as well.
  # @private
  class AttachedTransport < StreamTransport
    def initialize(io)
      @io = io
      copy = (io.is_a?(IO) ? io : IO.for_fd(io.fileno, autoclose: false)).dup
      super(::Pelton::Stream.for_fd(copy.tap { |one| one.autoclose = false }.fileno))
    end

    # @return [Integer] the program's descriptor, still open
    def detach
      copy = IO.for_fd(super)
      number = @io.fileno
      @io = nil
      copy.close
      number
    end

    private

    def call_unbind(errno)
      @io.close if @io.respond_to?(:close) && !(@io.respond_to?(:closed?) && @io.closed?)
      super
    end
  end

  Number = Struct.new(:fileno)
  private_constant :Number

  class << self
    # Watches a descriptor. The program reads and writes it in notify_readable and notify_writable, which are called
    # after {Connection#notify_readable=} and {Connection#notify_writable=} have asked for them.
    #
    # @param io [IO, #to_io, Integer]
    # @return [Connection]
    # @raise [ArgumentError] when the descriptor is closed
    def watch(io, handler = nil, *arguments, &block) = attach_io(io, true, handler, *arguments, &block)
    ruby2_keywords :watch

    # Makes a connection from a descriptor of a socket or a pipe. The connection closes the descriptor.
    #
    # @param io [IO, #to_io, Integer]
    # @return [Connection]
    # @raise [ArgumentError] when the descriptor is closed, or the handler has notify_readable or notify_writable
    def attach(io, handler = nil, *arguments, &block) = attach_io(io, false, handler, *arguments, &block)
    ruby2_keywords :attach

    # @private
    def attach_io(io, watch_mode, handler = nil, *arguments, &block)
      type = klass_from_handler(Connection, handler, *arguments)
      if !watch_mode && type.public_instance_methods.any? { |name| %i[notify_readable notify_writable].include?(name) }
        raise ArgumentError,
          "notify_readable/writable with EM.attach is not supported. Use EM.watch(io){ |c| c.notify_readable = true }"
      end
      io = io.to_io if io.respond_to?(:to_io)
      descriptor = io.is_a?(Integer) ? Number.new(io) : io
      _on_reactor do
        transport = watch_mode ? WatchTransport.new(descriptor) : AttachedTransport.new(descriptor)
        connection = type.new(transport.signature, *arguments)
        connection.instance_variable_set(:@io, io)
        block&.call(connection)
        transport.open unless watch_mode
        connection
      end
    rescue Errno::EBADF, IOError => error
      raise ArgumentError, "cannot use this descriptor: #{error.message}"
    end
    ruby2_keywords :attach_io

    # Makes a connection that receives standard input.
    def open_keyboard(handler = nil, *arguments, &block)
      type = klass_from_handler(Connection, handler, *arguments)
      input = keyboard.tap { |io| io.autoclose = false }
      transport = StreamTransport.new(::Pelton::Stream.for_fd(input.fileno))
      type._bind(transport, arguments, block).tap { transport.open }
    end
    ruby2_keywords :open_keyboard

    private

    # The loop cannot wait for a file, so a thread copies it into a pipe.
    def keyboard
      return $stdin.dup unless $stdin.stat.file?
      reader, writer = IO.pipe
      Thread.new do
        IO.copy_stream($stdin, writer)
        writer.close
      end
      reader
    end
  end

  class Connection
    # Sets whether notify_readable is called while the descriptor can be read. Only for connections of
    # {EventMachine.watch}.
    #
    # @raise [RuntimeError] on other connections
    def notify_readable=(whether)
      @em_transport.notify(Readiness::READABLE, whether)
    end

    def notify_readable? = @em_transport.notify?(Readiness::READABLE)

    # Sets whether notify_writable is called while the descriptor can be written. Only for connections of
    # {EventMachine.watch}.
    #
    # @raise [RuntimeError] on other connections
    def notify_writable=(whether)
      @em_transport.notify(Readiness::WRITABLE, whether)
    end

    def notify_writable? = @em_transport.notify?(Readiness::WRITABLE)

    # @return [Boolean] whether {EventMachine.watch} made the connection
    def watch_only? = @em_transport.is_a?(WatchTransport)
  end

  class Transport
    def notify(_mode, _whether)
      raise "notify_readable and notify_writable must be on 'watch only' connections"
    end

    def notify?(_mode) = false
  end

  class << self
    # @param signature [Integer] of a watched descriptor
    # @return [Boolean] whether `notify_readable` is called
    def is_notify_readable(signature) = _transport(signature).notify?(Readiness::READABLE)

    # @param signature [Integer] of a watched descriptor
    # @return [Boolean] whether `notify_writable` is called
    def is_notify_writable(signature) = _transport(signature).notify?(Readiness::WRITABLE)

    # @param signature [Integer] of a watched descriptor
    # @param whether [Boolean] whether `notify_readable` is called
    def set_notify_readable(signature, whether) = _transport(signature).notify(Readiness::READABLE, whether)

    # @param signature [Integer] of a watched descriptor
    # @param whether [Boolean] whether `notify_writable` is called
    def set_notify_writable(signature, whether) = _transport(signature).notify(Readiness::WRITABLE, whether)
  end
end
