# frozen_string_literal: true

require "socket"

module Pelton
  # A connection, or any connected descriptor: bytes in and out, with buffers.
  #
  # In direct style ({#readpartial}, {#gets}, {#read}, {#write} ... without a block) a call parks its fiber until it is
  # done, or blocks where no reactor runs. The same methods with a block return a Deferrable at once, and the block gets
  # the value later; {#later} returns the Deferrable alone. In callback style proper, {#on_data} is given whatever comes.
  #
  # Every read and write takes `timeout:`, in seconds, for the whole call; {#timeout=} sets one for those without.
  # Otherwise a call waits for as long as the peer likes: an idle connection is no error. What was received for a read
  # that raised is there for the next one.
  #
  # Several fibers may use one stream: reads come one after the other, in their order, and each write's bytes stay
  # together. All of it happens on the thread that opened the stream.
  #
  # Common errors: {TimeoutError}; {ConnectionError} when the connection failed, {TLSError} among its kinds; {ClosedError} when this side closed the
  # stream, also while the call waited, and in a child that inherited it through a fork.
  class Stream
    # Bytes of a line that {#gets} accepts at most, unless it is told otherwise.
    LINE_LIMIT = 1 << 20

    # @!method self.for_fd(fd)
    #   Takes over a connected descriptor: a socket, a pipe, a terminal, no file. The stream closes it.
    #   @param fd [Integer]
    #   @return [Stream]
    #   @raise [ConnectionError] the descriptor stays the caller's

    # Two streams that are connected with each other, for tests and for talking to a child.
    #
    # @return [Array(Stream, Stream)]
    def self.pair
      sockets = UNIXSocket.pair
      sockets.map { |socket| for_fd(socket.fileno).tap { socket.autoclose = false } }
    end

    # @!group Reading

    # Reads at most `max` bytes: at once if there are some, otherwise when some come.
    #
    # @param max [Integer] bytes; without a buffer no more than 65,536 come at once
    # @param buffer [String, nil] receives the bytes, and is returned; reusing one saves most of the cost of bulk reading
    # @param timeout [Numeric, nil] seconds
    # @return [String] binary
    # @raise [EOFError] at the end
    # @asynchronous
    def readpartial(max, buffer = nil, timeout: nil, &block)
      return defer(block) { readpartial(max, buffer, timeout: timeout) } if block
      _readpartial(max, buffer, timeout) || raise(EOFError, "the peer has sent all it will send")
    end

    # Reads `length` bytes, or to the end when it is nil.
    #
    # @param length [Integer, nil] bytes
    # @param buffer [String, nil] receives the bytes, and is returned
    # @param timeout [Numeric, nil] seconds
    # @return [String, nil] fewer bytes when the end comes first; nil when it comes at once and a length was given
    # @asynchronous
    def read(length = nil, buffer = nil, timeout: nil, &block)
      return defer(block) { _read(length, buffer, timeout) } if block
      _read(length, buffer, timeout)
    end

    # Reads `length` bytes, neither more nor fewer.
    #
    # @param length [Integer] bytes
    # @param timeout [Numeric, nil] seconds
    # @return [String]
    # @raise [EOFError] when the end comes first; the bytes before it are lost
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
    # @param chomp [Boolean] leaves the separator out, and a "\r" before "\n"
    # @param limit [Integer] bytes, with the separator: a longer line is an error, because a peer that never ends it
    #   would fill the memory
    # @param timeout [Numeric, nil] seconds
    # @return [String, nil] nil at the end; the last line may lack its separator
    # @raise [LimitError] the line can still be read in other ways
    # @asynchronous
    def gets(separator = "\n", chomp: false, limit: LINE_LIMIT, timeout: nil, &block)
      return defer(block) { _gets(separator, limit, chomp, timeout) } if block
      _gets(separator, limit, chomp, timeout)
    end

    # As {#gets}.
    #
    # @raise [EOFError] at the end
    # @asynchronous
    def readline(separator = "\n", **options, &block)
      return defer(block) { readline(separator, **options) } if block
      gets(separator, **options) || raise(EOFError, "the peer has sent all it will send")
    end

    # Yields each line until the end. The options are those of {#gets}.
    #
    # @return [self, Enumerator] an Enumerator without a block
    # @asynchronous
    def each_line(separator = "\n", **options)
      return enum_for(:each_line, separator, **options) unless block_given?
      while (line = gets(separator, **options))
        yield line
      end
      self
    end

    # Whether nothing is left to read. Waits until something comes or the end does.
    #
    # @param timeout [Numeric, nil] seconds
    # @asynchronous
    def eof?(timeout: nil) = _eof(timeout)

    # @!endgroup
    # @!group Writing

    # @!method write(*strings, timeout: nil)
    #   Sends strings. Small ones gather and go out together when the loop turns. While more than 1 MB is queued, direct
    #   style waits, and with a block {OverloadError} comes beyond 2 MB (see {#on_drain}).
    #   @param strings [Array<#to_s>] may be changed afterwards: what is sent is what they were
    #   @param timeout [Numeric, nil] seconds that direct style waits; what was queued stays queued
    #   @yieldparam bytes [Integer] when they are sent
    #   @return [Integer, Operation] bytes; with a block the Deferrable
    #   @asynchronous

    # @!method <<(string)
    #   As {#write}, for chains.
    #   @return [self]
    #   @asynchronous

    # Reads what is there, and never waits. As IO#read_nonblock.
    #
    # @param max [Integer] bytes
    # @return [String, Symbol, nil] binary; without exceptions :wait_readable when nothing is there, nil at the end
    # @raise [IO::EAGAINWaitReadable] when nothing is there
    # @raise [EOFError] at the end
    def read_nonblock(max, buffer = nil, exception: true)
      readpartial(max, buffer, timeout: 0)
    rescue TimeoutError
      exception ? raise(IO::EAGAINWaitReadable, "nothing is there to read") : :wait_readable
    rescue EOFError
      exception ? raise : nil
    end

    # Queues bytes, as many as there is room for, and never waits. As IO#write_nonblock.
    #
    # @return [Integer, Symbol] bytes that were taken; without exceptions :wait_writable when much is queued
    # @raise [IO::EAGAINWaitWritable] when much is queued
    def write_nonblock(string, exception: true)
      room = 1_048_576 - pending
      return write(string.byteslice(0, room)) if room.positive?
      exception ? raise(IO::EAGAINWaitWritable, "#{pending} bytes are queued") : :wait_writable
    end

    # Reads end from now on.
    #
    # @return [nil]
    def close_read
      socket { |socket| socket.shutdown(:RD) }
      nil
    end

    # Waits until all that was written is sent.
    #
    # @param timeout [Numeric, nil] seconds
    # @return [self, Operation] with a block the Deferrable, whose block gets the stream
    # @asynchronous
    def flush(timeout: nil, &block) = block ? defer(block) { _flush(timeout) } : _flush(timeout)

    # @!method pending
    #   @return [Integer] bytes that are queued and not sent

    # @!method close_write
    #   Tells the peer, after all that was written, that no more will come. Reading goes on.
    #   @return [nil]

    # @!endgroup
    # @!group TLS

    # Begins TLS: whatever is read and written from now on is encrypted, in every style. What was written before goes out
    # as it is; what was received and not read yet belongs to the handshake, so that nobody can slip plain commands in.
    #
    # A client verifies the server's certificate and its name, unless `verify: false` says otherwise. When the handshake
    # fails the stream is closed.
    #
    # @example after a mail server's answer to STARTTLS
    #   stream.start_tls(server_name: "mail.example.com")
    # @param context [TLS::Context, nil] nil: one is made of the settings, or, without any, a shared one that trusts what
    #   the system trusts. Make a context yourself for what happens often
    # @param server [Boolean] whether this side is the server, which needs a certificate
    # @param server_name [String, nil] the name or address that a client expects in the certificate, and asks for (SNI)
    # @param verify [Boolean, :optional, nil] whether the peer's certificate must be good; nil: as the context says, or true
    #   for a client and false for a server; `:optional`: a client's, if it has one
    # @param on_certificate [Proc, nil] has the last word: it is called with each {TLS::Certificate} of the peer's chain, the
    #   authority's first, and returns whether it is accepted. It may wait
    # @param timeout [Numeric, nil] seconds for the handshake
    # @param settings what {TLS::Context#initialize} takes
    # @return [self, Operation] with a block the Deferrable, whose block gets the stream
    # @raise [VerificationError, TLSError, TimeoutError]
    # @raise [ArgumentError] a client that verifies was given no server_name
    # @asynchronous
    def start_tls(context = nil, server: false, server_name: nil, verify: nil, on_certificate: nil, timeout: 10, **settings, &block)
      arguments = TLS._arguments(context, settings, server: server, name: server_name, verify: verify, check: on_certificate)
      return _start_tls(arguments, timeout) unless block
      return _start_tls_later(arguments, timeout, block) if Pelton.running?
      defer(block) { _start_tls(arguments, timeout) }
    end

    # @return [TLS::Info, nil] what TLS has agreed upon: version, cipher, the peer's certificate ...; nil without TLS, before
    #   the handshake is done, and when the stream is closed
    def tls = _tls&.then { |values| TLS::Info.new(*values) }

    # @!endgroup
    # @!group Callbacks

    # @!method on_data(buffer = nil)
    #   Has the block called with each piece that comes, in order. A block that waits holds up this stream alone: nothing
    #   is read from it meanwhile, but by the block itself. At the end the stream closes, unless there is {#on_end}.
    #   The stream is kept, and keeps {Pelton.run} going, until it is closed.
    #   @param buffer [String, nil] holds each piece in turn, which saves most of the cost of bulk reading; otherwise
    #     each piece is a String of its own, of at most 65,536 bytes
    #   @yieldparam bytes [String] binary
    #   @return [self]

    # @!method on_end
    #   Has the block called when the peer has sent all it will send. To close the stream is the block's duty then.
    #   @return [self]

    # @!method on_close
    #   Has the block called once, when the stream is closed by either side. That the peer did so is noticed by reading:
    #   it needs {#on_data}.
    #   @yieldparam error [ConnectionError, nil] what ended it; nil after an orderly end
    #   @return [self]

    # @!method on_drain
    #   Has the block called when more than 1 MB was queued and half of that is left: once each time.
    #   @return [self]

    # @!method pause
    #   Stops {#on_data} after the piece that is being delivered. The peer is slowed down once the buffers are full.
    #   @return [self]

    # @!method resume
    #   @return [self]

    # @!method paused?
    #   @return [Boolean]

    # @!endgroup
    # @!group Closing

    # @!method close
    #   Closes the stream, and returns at once. What is queued is sent first, in the background; after {#timeout}, or 30
    #   seconds, without progress it is dropped, and {#on_close} gets a {TimeoutError}. Where no reactor runs, the call
    #   blocks until it is sent. Fibers that wait in a read or a write get {ClosedError}. Legal for a closed stream.
    #   @return [nil]

    # @!method abort
    #   Closes the stream at once. What is queued is dropped.
    #   @return [nil]

    # @!method closed?
    #   @return [Boolean] whether this side has closed it, or an error has

    # @!endgroup

    # @!attribute timeout
    #   @return [Float, nil] seconds, for each read and write that has no timeout of its own; nil: as long as it takes

    # @!method fileno
    #   @return [Integer] the descriptor, which stays the stream's

    # @return [Addrinfo] of the peer
    def remote_address = socket(&:remote_address)

    # @return [Addrinfo] of this side
    def local_address = socket(&:local_address)

    # The same methods, each returning its Deferrable.
    #
    # @example
    #   stream.later.gets.callback { |line| puts line }
    # @return [Later]
    def later = Later.new(self)

    # A stream's methods, each returning its Deferrable. Reads are done one after the other, in the order of the calls.
    class Later
      # @private
      def initialize(stream) = @stream = stream

      %i[readpartial read read_exactly gets readline eof? flush start_tls].each do |name|
        define_method(name) do |*arguments, **options|
          Pelton.__send__(:defer, nil) { @stream.public_send(name, *arguments, **options) }
        end
      end

      # Succeeds when all of it was sent.
      def write(...) = @stream.__send__(:_write_later, ...)
    end

    private

    def defer(block, &work) = Pelton.__send__(:defer, block, &work)

    def socket
      yield Socket.for_fd(fileno).tap { |socket| socket.autoclose = false }
    end
  end
end
