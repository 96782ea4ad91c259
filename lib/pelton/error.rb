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

  # The connection failed, was refused, or ended with operations still owed. It is never used again; the next operation
  # makes a new one.
  class ConnectionError < Error
    def retriable? = true
  end

  # An operation's time is over. `rescue Timeout::Error` matches it as well.
  class TimeoutError < ConnectionError
    # A class has one parent, and this one's is ConnectionError; so Timeout::Error is asked to recognise it.
    module Recognition
      def ===(error) = super || (equal?(::Timeout::Error) && TimeoutError === error)
    end
    ::Timeout::Error.singleton_class.prepend(Recognition)
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

  # TLS failed: no common version or cipher, a peer that does not speak it, a certificate that cannot be read. The message
  # says what to do.
  class TLSError < ConnectionError
    def retriable? = false
  end

  # The peer's certificate is not trusted, or is for another name. Nothing was sent to that peer but the handshake.
  class VerificationError < TLSError
  end

  # The connection ended without TLS's farewell: somebody may have cut off what the peer sent. Take what came before as
  # complete only when the protocol itself says where it ends.
  class TruncationError < TLSError
    def retriable? = true
  end

  # A documented limit was passed: a line, a value or a name is too long.
  class LimitError < Error
  end

  # Too many operations or bytes are outstanding. Slow down: wait for some of them, or use direct style, which waits by
  # itself.
  class OverloadError < Error
    def retriable? = true
  end

  # A call needs a running reactor. Put it inside `Pelton.run { }`.
  class NotRunningError < Error
  end

  # Raised inside a task that is cancelled, and inside parked fibers when their reactor stops. It is not a StandardError,
  # so that `rescue => error` does not keep a task alive by accident.
  class Cancelled < Exception # standard:disable Lint/InheritException
    def initialize(message = "the task was cancelled") = super
  end
end
