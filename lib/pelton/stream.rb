# frozen_string_literal: true

require "socket"

module Pelton
  # A connection, or any connected descriptor: bytes in and out, with buffers.
  #
  # In direct style ({#readpartial}, {#gets}, {#read}, {#write} ... without a block) a call parks its fiber until it is
  # done, or blocks the thread where no reactor runs. The same methods with a block return an {Operation} at once, and
  # the block is called with the value later; {#later} returns the Operation without a block. With {#on_data}, a block
  # receives the bytes as they come.
  #
  # Every read and write takes `timeout:`, in seconds, for the whole call; {#timeout=} sets a default. Without either, a
  # call waits for as long as the peer takes: an idle connection is no error. When a read raises, the bytes that it has
  # received stay in the stream for the next read.
  #
  # Several fibers may use one stream: reads are served in the order of the calls, and the bytes of each write stay
  # together. A stream belongs to the thread that opened it: other threads get an {Error}.
  #
  # Errors of all reads and writes: {TimeoutError}; {ConnectionError} when the connection failed, and its subclass
  # {TLSError}; {ClosedError} when this side has closed the stream, also while the call waited, and in a child that
  # inherited the stream through a fork.
  class Stream
    # The longest line, in bytes, that {#gets} accepts by default.
    LINE_LIMIT = 1 << 20

    # @!method self.for_fd(fd)
    #   Takes over a connected descriptor: a socket, a pipe or a terminal, but no file. The stream closes it.
    #   @param fd [Integer]
    #   @return [Stream]
    #   @raise [ConnectionError] when the descriptor cannot be used; it stays the caller's

    # Makes two streams that are connected with each other, for tests and for talking to a child.
    #
    # @return [Array(Stream, Stream)]
    def self.pair
      sockets = UNIXSocket.pair
      sockets.map { |socket| for_fd(socket.fileno).tap { socket.autoclose = false } }
    end

    # @!group Reading

    # Reads the bytes that have been received, `max` at most. Waits only while there are none.
    #
    # @param max [Integer] bytes; without a buffer a call returns no more than 65,536
    # @param buffer [String, nil] receives the bytes and is returned; reusing a buffer saves most of the cost of bulk
    #   reading
    # @param timeout [Numeric, nil] seconds
    # @return [String] binary
    # @raise [EOFError] at the end of the stream
    # @asynchronous
    def readpartial(max, buffer = nil, timeout: nil, &block)
      return defer(block) { readpartial(max, buffer, timeout: timeout) } if block
      _readpartial(max, buffer, timeout) || raise(EOFError, "end of stream")
    end

    # Reads `length` bytes, or all bytes until the end of the stream.
    #
    # @param length [Integer, nil] bytes; nil: until the end, however many those are
    # @param buffer [String, nil] receives the bytes and is returned
    # @param timeout [Numeric, nil] seconds
    # @return [String, nil] binary; fewer bytes when the stream ends first. At the end of the stream: nil, or an empty
    #   string when `length` is nil
    # @asynchronous
    def read(length = nil, buffer = nil, timeout: nil, &block)
      return defer(block) { _read(length, buffer, timeout) } if block
      _read(length, buffer, timeout)
    end

    # Reads exactly `length` bytes.
    #
    # @param length [Integer] bytes
    # @param timeout [Numeric, nil] seconds
    # @return [String] binary
    # @raise [EOFError] when the stream ends first; the bytes before the end are lost
    # @asynchronous
    def read_exactly(length, timeout: nil, &block)
      return defer(block) { read_exactly(length, timeout: timeout) } if block
      string = _read(length, nil, timeout)
      return string if string && string.bytesize == length
      raise EOFError, "the peer sent #{string ? string.bytesize : 0} bytes of #{length}"
    end

    # Reads a line, with its separator.
    #
    # @param separator [String]
    # @param chomp [Boolean] whether to remove the separator, and a "\r" before "\n"
    # @param limit [Integer] the longest line, in bytes and with the separator. Without a limit, a peer that never ends
    #   its line would fill the memory
    # @param timeout [Numeric, nil] seconds
    # @return [String, nil] binary; nil at the end of the stream. The last line may lack its separator
    # @raise [LimitError] when the line is longer; its bytes can still be read in other ways
    # @asynchronous
    def gets(separator = "\n", chomp: false, limit: LINE_LIMIT, timeout: nil, &block)
      return defer(block) { _gets(separator, limit, chomp, timeout) } if block
      _gets(separator, limit, chomp, timeout)
    end

    # As {#gets}, but raises at the end of the stream.
    #
    # @return [String]
    # @raise [EOFError] at the end of the stream
    # @asynchronous
    def readline(separator = "\n", **options, &block)
      return defer(block) { readline(separator, **options) } if block
      gets(separator, **options) || raise(EOFError, "end of stream")
    end

    # Yields each line until the end of the stream. The options are those of {#gets}.
    #
    # @yieldparam line [String]
    # @return [self, Enumerator] an Enumerator without a block
    # @asynchronous
    def each_line(separator = "\n", **options)
      return enum_for(:each_line, separator, **options) unless block_given?
      while (line = gets(separator, **options))
        yield line
      end
      self
    end

    # Waits until bytes come or the stream ends.
    #
    # @param timeout [Numeric, nil] seconds
    # @return [Boolean] whether the stream has ended and all its bytes are read
    # @asynchronous
    def eof?(timeout: nil) = _eof(timeout)

    # @!endgroup
    # @!group Writing

    # @!method write(*strings, timeout: nil)
    #   Queues strings for sending. The queue goes out at the end of each loop iteration, so small strings are sent
    #   together. While more than 1 MB is queued, direct style waits. With a block the call never waits: beyond 2 MB it
    #   fails with {OverloadError} (see {#on_drain}).
    #   @param strings [Array<#to_s>] may be changed after the call: the bytes are copied or kept as they were
    #   @param timeout [Numeric, nil] seconds that direct style waits; queued bytes stay queued when the time is over
    #   @yieldparam bytes [Integer] how many bytes; the block is called when all are sent
    #   @return [Integer, Operation] how many bytes; with a block, an Operation at once
    #   @asynchronous

    # @!method <<(string)
    #   As {#write}, but returns the stream, for chains.
    #   @return [self]
    #   @asynchronous

    # Reads the bytes that have been received, and never waits. As IO#read_nonblock.
    #
    # @param max [Integer] bytes
    # @param buffer [String, nil] receives the bytes and is returned
    # @param exception [Boolean] false: returns :wait_readable or nil instead of raising
    # @return [String, Symbol, nil] binary; :wait_readable when no bytes are there; nil at the end of the stream
    # @raise [IO::EAGAINWaitReadable] when no bytes are there
    # @raise [EOFError] at the end of the stream
    def read_nonblock(max, buffer = nil, exception: true)
      readpartial(max, buffer, timeout: 0)
    rescue TimeoutError
      exception ? raise(IO::EAGAINWaitReadable, "no bytes are there to read") : :wait_readable
    rescue EOFError
      exception ? raise : nil
    end

    # Queues as many bytes as the queue's limit of 1 MB allows, and never waits. As IO#write_nonblock.
    #
    # @param string [String]
    # @param exception [Boolean] false: returns :wait_writable instead of raising
    # @return [Integer, Symbol] how many bytes were queued; :wait_writable when 1 MB is queued already
    # @raise [IO::EAGAINWaitWritable] when 1 MB is queued already
    def write_nonblock(string, exception: true)
      capacity = 1_048_576 - pending
      return write(string.byteslice(0, capacity)) if capacity.positive?
      exception ? raise(IO::EAGAINWaitWritable, "#{pending} bytes are queued") : :wait_writable
    end

    # Shuts the connection down for reading: from now on, reads find the end of the stream.
    #
    # @return [nil]
    def close_read
      socket { |socket| socket.shutdown(:RD) }
      nil
    end

    # Waits until all written bytes are sent, which means handed to the operating system.
    #
    # @param timeout [Numeric, nil] seconds
    # @yieldparam stream [Stream]
    # @return [self, Operation] with a block, an Operation at once, and the block is called with the stream
    # @asynchronous
    def flush(timeout: nil, &block) = block ? defer(block) { _flush(timeout) } : _flush(timeout)

    # @!method pending
    #   @return [Integer] bytes that are queued and not sent yet

    # @!method close_write
    #   Sends the queued bytes, and then ends the stream in this direction: the peer reads its end. Reading goes on.
    #   @return [nil]

    # @!endgroup
    # @!group TLS

    # Begins TLS: from now on all bytes are encrypted, in every style. Bytes written before are sent as they are. Bytes
    # received before and not read yet belong to the handshake, so that an attacker cannot slip plain commands in.
    #
    # A client verifies the server's certificate and its name, unless `verify: false` is given. When the handshake
    # fails, the stream is closed.
    #
    # @example after a mail server's answer to STARTTLS
    #   stream.start_tls(server_name: "mail.example.com")
    # @param context [TLS::Context, nil] nil: a context is made of the settings; without settings, a shared one trusts
    #   the authorities that the system trusts. Make a context yourself for frequent connections
    # @param server [Boolean] whether this side is the server, which needs a certificate
    # @param server_name [String, nil] the name or address that a client asks for (SNI) and expects in the certificate
    # @param verify [Boolean, :optional, nil] whether the peer's certificate must be trusted; `:optional`: a client's
    #   certificate must be, if it sends one; nil: as the context says, otherwise true for a client and false for a
    #   server
    # @param on_certificate [Proc, nil] decides: it is called with each {TLS::Certificate} of the peer's chain, the
    #   authority's first, and returns whether to accept it. It may wait
    # @param timeout [Numeric, nil] seconds for the handshake; where no reactor runs, without the time that
    #   `on_certificate` takes
    # @param settings options for {TLS::Context#initialize}
    # @yieldparam stream [Stream]
    # @return [self, Operation] with a block, an Operation at once, and the block is called with the stream
    # @raise [VerificationError] when the peer's certificate is not accepted
    # @raise [TLSError] when the handshake failed otherwise
    # @raise [TimeoutError] when the time is over first
    # @raise [ArgumentError] when a client that verifies was given no server_name
    # @asynchronous
    def start_tls(context = nil, server: false, server_name: nil, verify: nil, on_certificate: nil, timeout: 10,
      **settings, &block)
      arguments = TLS._arguments(context, settings, server: server, name: server_name, verify: verify,
        check: on_certificate)
      return start_tls_in_time(arguments, timeout) unless block
      return _start_tls_later(arguments, timeout, block) if Pelton.running?
      defer(block) { _start_tls(arguments, timeout) }
    end

    # @return [TLS::Info, nil] the connection's version, cipher, the peer's certificate ...; nil without TLS, before the
    #   handshake is done, and when the stream is closed
    def tls = _tls&.then { |values| TLS::Info.new(*values) }

    # @!endgroup
    # @!group Callbacks

    # @!method on_data(buffer = nil)
    #   Calls the block with each piece of bytes that comes, in order. A block that waits delays this stream alone:
    #   meanwhile only the block itself reads from it. At its end the stream closes, unless {#on_end} is set. Until it
    #   is closed, the stream is kept alive and keeps {Pelton.run} going.
    #   @param buffer [String, nil] receives one piece after the other, which saves most of the cost of bulk reading;
    #     without it each piece is a String of its own, of at most 65,536 bytes
    #   @yieldparam bytes [String] binary
    #   @return [self]
    #   @raise [NotRunningError] where no reactor runs on this thread

    # @!method on_end
    #   Calls the block when the peer has ended its direction of the stream. The block must close the stream.
    #   @return [self]

    # @!method on_close
    #   Calls the block once, when either side has closed the stream. Only reading notices that the peer has closed it,
    #   so that needs {#on_data}.
    #   @yieldparam error [ConnectionError, nil] the error that ended the stream; nil after an orderly end
    #   @return [self]

    # @!method on_drain
    #   Calls the block each time when the queue, after more than 1 MB, has shrunk to half of that.
    #   @return [self]

    # @!method pause
    #   Stops {#on_data} after the piece that is being delivered. The peer is slowed down once the buffers are full.
    #   While the stream is paused, it can be read in direct style.
    #   @return [self]

    # @!method resume
    #   Lets {#on_data} go on.
    #   @return [self]

    # @!method paused?
    #   @return [Boolean]

    # @!endgroup
    # @!group Closing

    # @!method close
    #   Closes the stream, and returns at once. Queued bytes are sent first, in the background; after {#timeout}, or 30
    #   seconds, without progress they are dropped, and {#on_close} gets a {TimeoutError}. With TLS the socket stays
    #   open until the peer's system has acknowledged all bytes, or has acknowledged none for a second or {#timeout}:
    #   TLS session tickets that came to a closed socket would reset the connection. Where no reactor runs, the call
    #   blocks meanwhile. Fibers that wait in a read or a write get {ClosedError}. Does nothing when the stream is
    #   closed already.
    #   @return [nil]

    # @!method abort
    #   Closes the stream at once, and drops queued bytes.
    #   @return [nil]

    # @!method closed?
    #   @return [Boolean] whether this side or an error has closed it

    # @!endgroup

    # @!attribute timeout
    #   @return [Float, nil] seconds for each read and write without a `timeout:` of its own; nil: no limit

    # @!method fileno
    #   @return [Integer] the descriptor; the stream keeps it and closes it

    # @return [Addrinfo] the peer's address
    def remote_address = socket(&:remote_address)

    # @return [Addrinfo] this side's address
    def local_address = socket(&:local_address)

    # The same methods in a form that returns an {Operation} at once.
    #
    # @example
    #   stream.later.gets.callback { |line| puts line }
    # @return [Later]
    def later = Later.new(self)

    # A stream's methods, each of which returns an {Operation} at once. Reads are served in the order of the calls.
    class Later
      # @private
      def initialize(stream) = @stream = stream

      %i[readpartial read read_exactly gets readline eof? flush start_tls].each do |name|
        define_method(name) do |*arguments, **options|
          Deferrable.defer(nil) { @stream.public_send(name, *arguments, **options) }
        end
      end

      # @return [Operation] succeeds with the number of bytes when all are sent
      def write(...) = @stream.write_later(...)
    end

    private

    # _start_tls alone limits the waits for the peer, but not those of on_certificate.
    def start_tls_in_time(arguments, timeout)
      return _start_tls(arguments, timeout) unless timeout && Pelton.running?
      Reactor.current.timeout_after(timeout, TimeoutError, "TLS handshake: the operation timed out") do
        _start_tls(arguments, timeout)
      end
    end

    def defer(block, &work) = Deferrable.defer(block, &work)

    def socket
      yield Socket.for_fd(fileno).tap { |socket| socket.autoclose = false }
    end

    Pelton.register_upcalls(stream_tls: instance_method(:tls))
  end
end
