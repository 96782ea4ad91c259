# frozen_string_literal: true

require "timeout"

module Pelton
  # The root of every error that Pelton raises. There is one class for each decision that a caller makes.
  class Error < StandardError
    # @return [Integer, nil] the system's error number, where a system call failed
    attr_accessor :errno

    # Whether trying the same operation again, perhaps a little later, can help.
    def retriable? = false
  end

  # The connection was refused, failed, or ended while operations were in flight. It is never used again; the next
  # operation opens a new one.
  class ConnectionError < Error
    def retriable? = true
  end

  # A time limit has passed.
  class TimeoutError < Error
    def retriable? = true
  end

  # The name could not be resolved.
  class ResolutionError < ConnectionError
  end

  # The stream, client, listener or reactor was closed by this program.
  class ClosedError < Error
  end

  # The peer broke the protocol. Its connection is closed, since nothing that follows can be trusted.
  class ProtocolError < ConnectionError
    def retriable? = false
  end

  # TLS failed: no common version or cipher, a peer that does not speak TLS, a certificate that cannot be read. The
  # message says what to do.
  class TLSError < ConnectionError
    def retriable? = false
  end

  # The peer's certificate is not trusted, or is for another name. The peer has received nothing but the handshake.
  class VerificationError < TLSError
  end

  # The connection ended without TLS's close_notify, so an attacker may have cut off the peer's last bytes. A message
  # that was received before is complete only if the protocol itself marks its end.
  class TruncationError < TLSError
    def retriable? = true
  end

  # A documented limit was exceeded: a line, a value or a name is too long.
  class LimitError < Error
  end

  # Too many operations or bytes are pending. Wait for some of them before the next, or use direct style, which waits by
  # itself.
  class OverloadError < Error
    def retriable? = true
  end

  # A call needs a running reactor. Put it inside `Pelton.run { }`.
  class NotRunningError < Error
  end

  # Raised inside a task that is cancelled, and inside parked fibers when their reactor stops. It is not a
  # StandardError: so `rescue => error` does not keep a task alive by accident.
  class Cancelled < Exception # standard:disable Lint/InheritException
    def initialize(message = "the task was cancelled") = super
  end
end
