# frozen_string_literal: true

require "socket"

module Pelton
  # A connection, or any connected descriptor: bytes in and out, with buffers.
  #
  # In direct style ({#readpartial}, {#gets}, {#read}, {#write} without a block) a call parks its fiber until it is done,
  # or blocks where no reactor runs. In callback style ({#on_data}, {#on_close}, and the same methods with a block) it
  # returns at once. Every read and write takes `timeout:`, in seconds. Without one it waits for as long as the peer
  # likes: an idle connection is no error.
  class Stream
    # Reads at most `max` bytes: at once if there are some, otherwise when some come.
    #
    # @param max [Integer] bytes
    # @param buffer [String, nil] receives the bytes, and is returned; reusing one saves most of the cost of bulk reading
    # @return [String] binary
    # @raise [EOFError] at the end
    # @raise [TimeoutError, ConnectionError, ClosedError]
    # @asynchronous
    def readpartial(max, buffer = nil, timeout: nil, &block)
      return later.readpartial(max, buffer, timeout: timeout).callback(&block) if block
      _readpartial(max, buffer, timeout) || raise(EOFError, "the peer has sent all it will send")
    end

    # Reads exactly `length` bytes, or to the end when it is nil.
    #
    # @return [String, nil] fewer bytes when the end comes first; nil when it comes at once and a length was given
    # @asynchronous
    def read(length = nil, timeout: nil, &block)
      return later.read(length, timeout: timeout).callback(&block) if block
      return "".b if length == 0
      until length && _buffered >= length
        break unless _fill(timeout)
      end
      _take("", length ? [length, _buffered].min : _buffered, 0) || (length ? nil : "".b)
    end

    # Reads a line, with its separator.
    #
    # @param limit [Integer] bytes: a longer line is an error, because a peer that never ends it would fill the memory
    # @return [String, nil] nil at the end; the last line may lack its separator
    # @raise [LimitError]
    # @asynchronous
    def gets(separator = "\n", limit: 1 << 20, timeout: nil, &block)
      return later.gets(separator, limit: limit, timeout: timeout).callback(&block) if block
      searched = 0
      loop do
        line = _take(separator, nil, [searched - separator.bytesize + 1, 0].max)
        return line if line
        searched = _buffered
        raise LimitError, "no end of line in #{limit} bytes" if searched > limit
        return _take("", searched, 0) unless _fill(timeout)
      end
    end

    # Sends a string. Small ones gather and go out together when the loop turns. While more than 1 MB is queued, direct
    # style waits; callback style gets {OverloadError} beyond 2 MB.
    #
    # @return [Integer] its bytes; with a block the Deferrable, which succeeds when they are sent
    # @asynchronous
    def write(string, timeout: nil, &block)
      return _write_later(string).callback(&block) if block
      _write(string, timeout)
    end

    # As {#write}, for chains.
    # @asynchronous
    def <<(string)
      _write(string, nil)
      self
    end

    # Waits until all that was written is sent.
    # @asynchronous
    def flush(timeout: nil) = _flush(timeout)

    # @return [Addrinfo] of the peer
    def remote_address = Socket.for_fd(fileno).tap { |socket| socket.autoclose = false }.remote_address

    # @return [Addrinfo] of this side
    def local_address = Socket.for_fd(fileno).tap { |socket| socket.autoclose = false }.local_address

    # The same methods, each returning its Deferrable.
    #
    # @example
    #   stream.later.gets.callback { |line| puts line }
    def later = Later.new(self)

    # Runs a stream's direct methods in tasks.
    class Later
      def initialize(stream) = @stream = stream

      %i[readpartial read gets flush].each do |name|
        define_method(name) { |*arguments, **options| Task.spawn { @stream.public_send(name, *arguments, **options) } }
      end

      def write(string) = @stream.send(:_write_later, string)
    end
  end
end
