# frozen_string_literal: true

require "socket"

module Pelton
  # Connects to one of several addresses. They are tried in order, and the attempt at the next address begins while a
  # slow one is still under way (RFC 8305, "Happy Eyeballs").
  module Connector
    # Seconds after which the next attempt begins while one is still under way (RFC 8305, section 5).
    ATTEMPT_DELAY = 0.25

    # Seconds until the next attempt at a UNIX listener whose backlog is full.
    RETRY_DELAY = 0.01

    class << self
      # @param addresses [Array<Addrinfo>]
      # @param deadline [Float] for all attempts together: seconds on the monotonic clock
      # @param local [Addrinfo, nil] the local address to connect from
      # @return [Stream]
      # @raise [ConnectionError] the error of the last attempt, when all have failed
      # @raise [TimeoutError] when the deadline has passed
      # @asynchronous
      def connect(addresses, deadline:, local: nil)
        waiting = addresses.dup
        attempts = {}
        failure = nil
        until waiting.empty? && attempts.empty?
          address = waiting.shift
          begin
            attempts[begin_attempt(address, local, deadline)] = address if address
          rescue ConnectionError, TimeoutError => failure
            next
          end
          settled = Stream._first_connected(attempts.keys, wait(deadline, waiting)) || next
          address = attempts.delete(settled)
          number = settled.errno or return settled
          settled.abort # now, not by the garbage collector: a program that retries often would have many open
          failure = error(number, address)
        end
        raise failure || ConnectionError.new("connect: there is no address to try")
      ensure
        attempts&.each_key(&:abort)
      end

      private

      def begin_attempt(address, local, deadline)
        Stream.begin_connect(address.to_sockaddr, local&.to_sockaddr)
      rescue ConnectionError => failure
        raise error(failure.errno, address) unless failure.errno == Errno::EAGAIN::Errno && Clock.left(deadline) > 0
        sleep(RETRY_DELAY)
        retry
      end

      # @return [Float] seconds to wait for the attempts that are under way
      def wait(deadline, waiting)
        left = Clock.left(deadline)
        raise TimeoutError, "connect: not connected in time" if left.zero?
        waiting.empty? ? left : [left, ATTEMPT_DELAY].min
      end

      def error(number, address)
        type = (number == Errno::ETIMEDOUT::Errno) ? TimeoutError : ConnectionError
        type.new("connect to #{address.inspect_sockaddr}: #{SystemCallError.new(number).message}").tap do |error|
          error.errno = number
        end
      end
    end
  end

  class << self
    # Connects to a TCP server, by name or address.
    #
    # @param host [String] a name, or an IPv4 or IPv6 address
    # @param port [Integer]
    # @param timeout [Numeric] seconds, for resolving, connecting and the TLS handshake together
    # @param local_host [String, nil] the address of this machine to connect from
    # @param tls [Boolean, TLS::Context, Hash, nil] true: TLS, and the host's certificate is verified; or a context; or
    #   a Hash of options for {Stream#start_tls}
    # @yieldparam stream [Stream]
    # @return [Stream, Operation] with a block, an Operation at once, and the block is called with the stream
    # @raise [ResolutionError] when the name cannot be resolved
    # @raise [ConnectionError] when no address could be connected to
    # @raise [TimeoutError] when the time is over first
    # @raise [TLSError, VerificationError] when the handshake failed, or the certificate was refused
    # @asynchronous
    def connect(host, port, timeout: 10, local_host: nil, tls: nil, &block)
      if block
        return Deferrable.defer(block) { connect(host, port, timeout: timeout, local_host: local_host, tls: tls) }
      end
      Notifications.instrument("connect.stream", {host: host, port: port}) do
        connect_in_time(host, port, timeout, local_host, tls)
      end
    end

    # Connects to a UNIX socket.
    #
    # @param path [String]
    # @param timeout [Numeric] seconds
    # @yieldparam stream [Stream]
    # @return [Stream, Operation] with a block, an Operation at once, and the block is called with the stream
    # @raise [ConnectionError] when nothing listens there
    # @raise [TimeoutError] when the time is over first
    # @asynchronous
    def connect_unix(path, timeout: 10, &block)
      return Deferrable.defer(block) { connect_unix(path, timeout: timeout) } if block
      deadline = Clock.now + timeout
      Notifications.instrument("connect.stream", {path: path}) do
        Connector.connect([Addrinfo.unix(path)], deadline: deadline)
      end
    end

    private

    def connect_in_time(host, port, timeout, local_host, tls)
      deadline = Clock.now + timeout
      addresses = Resolver.resolve(host, port, timeout: timeout)
      local = Addrinfo.tcp(local_host, 0) if local_host
      addresses = addresses.select { |address| address.afamily == local.afamily } if local
      stream = Connector.connect(addresses, deadline: deadline, local: local)
      tls ? TLS._connect(stream, host, tls, Clock.left(deadline)) : stream
    end
  end
end
