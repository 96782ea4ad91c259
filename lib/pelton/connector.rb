# frozen_string_literal: true

require "socket"

module Pelton
  # Connects to one of several addresses. They are tried in order; one that is slow is not waited for before the next
  # begins (RFC 8305, "Happy Eyeballs").
  module Connector
    # Seconds that an attempt has for itself before the next one begins beside it (RFC 8305, section 5).
    ATTEMPT_DELAY = 0.25

    # Seconds until a UNIX listener whose backlog is full is tried again.
    RETRY_DELAY = 0.01

    class << self
      # @param addresses [Array<Addrinfo>]
      # @param deadline [Float] on the monotonic clock, in seconds, for all attempts together
      # @param local [Addrinfo, nil] where to connect from
      # @return [Stream]
      # @raise [ConnectionError] the last one's, when all failed
      # @raise [TimeoutError]
      # @asynchronous
      def connect(addresses, deadline:, local: nil)
        waiting = addresses.dup
        attempts = {}
        failure = nil
        until waiting.empty? && attempts.empty?
          address = waiting.shift
          begin
            attempts[begin_attempt(address, local, deadline)] = address if address
          rescue ConnectionError => failure
            next
          end
          settled = Stream._first_connected(attempts.keys, wait(deadline, waiting)) || next
          address = attempts.delete(settled)
          number = settled._errno or return settled
          settled.abort # now, not when it is collected: whoever tries again and again would have many open
          failure = error(number, address)
        end
        raise failure || ConnectionError.new("connect: there is no address to try")
      ensure
        attempts&.each_key(&:abort)
      end

      private

      def begin_attempt(address, local, deadline)
        Stream._connect(address.to_sockaddr, local&.to_sockaddr)
      rescue ConnectionError => failure
        raise error(failure.errno, address) unless failure.errno == Errno::EAGAIN::Errno && Clock.left(deadline) > 0
        sleep(RETRY_DELAY)
        retry
      end

      # Seconds to wait for the attempts that are under way.
      def wait(deadline, waiting)
        left = Clock.left(deadline)
        raise TimeoutError, "connect: not connected in time" if left.zero?
        waiting.empty? ? left : [left, ATTEMPT_DELAY].min
      end

      def error(number, address)
        type = (number == Errno::ETIMEDOUT::Errno) ? TimeoutError : ConnectionError
        type.new("connect to #{address.inspect_sockaddr}: #{SystemCallError.new(number).message}").tap { |error| error.errno = number }
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
    # @param tls [Boolean, TLS::Context, Hash, nil] true: TLS, with the host's certificate verified; a context, or a Hash of
    #   what {Stream#start_tls} takes
    # @return [Stream, Operation] with a block a Deferrable, and the block gets the stream
    # @raise [ResolutionError, ConnectionError, TimeoutError]
    # @raise [TLSError, VerificationError]
    # @asynchronous
    def connect(host, port, timeout: 10, local_host: nil, tls: nil, &block)
      return defer(block) { connect(host, port, timeout: timeout, local_host: local_host, tls: tls) } if block
      deadline = Clock.now + timeout
      addresses = Resolver.resolve(host, port, timeout: timeout)
      local = Addrinfo.tcp(local_host, 0) if local_host
      addresses = addresses.select { |address| address.afamily == local.afamily } if local
      stream = Connector.connect(addresses, deadline: deadline, local: local)
      tls ? TLS._connect(stream, host, tls, Clock.left(deadline)) : stream
    end

    # Connects to a UNIX socket.
    #
    # @param path [String]
    # @param timeout [Numeric] seconds
    # @return [Stream, Operation] with a block a Deferrable, and the block gets the stream
    # @raise [ConnectionError, TimeoutError]
    # @asynchronous
    def connect_unix(path, timeout: 10, &block)
      return defer(block) { connect_unix(path, timeout: timeout) } if block
      deadline = Clock.now + timeout
      Connector.connect([Addrinfo.unix(path)], deadline: deadline)
    end
  end
end
