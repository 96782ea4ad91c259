# frozen_string_literal: true

require "socket"

module Pelton
  # Connects to a name or an address. Several addresses are tried in order; one that is slow is not waited for before
  # the next begins (RFC 8305, "Happy Eyeballs").
  module Connector
    # Seconds that an attempt has for itself before the next one begins beside it (RFC 8305, section 5).
    ATTEMPT_DELAY = 0.25

    # @param addresses [Array<Addrinfo>]
    # @param timeout [Numeric] seconds for all attempts together
    # @return [Stream]
    # @raise [ConnectionError] the last one's, when all failed
    # @raise [TimeoutError]
    # @asynchronous
    def self.connect(addresses, timeout:)
      deadline = now + timeout
      waiting = addresses.dup
      attempts = []
      error = nil
      until waiting.empty? && attempts.empty?
        begin
          attempts << Stream._connect(waiting.shift.to_sockaddr) unless waiting.empty?
        rescue ConnectionError => error
          next
        end
        remaining = deadline - now
        raise TimeoutError, "connect: not connected within #{timeout} s" if remaining <= 0
        settled = Stream._first_connected(attempts, waiting.empty? ? remaining : [remaining, ATTEMPT_DELAY].min)
        next unless settled
        attempts.delete(settled)
        return settled unless settled._errno
        error = failure(settled)
        settled.abort
      end
      raise error || ConnectionError.new("connect: there is no address to try")
    ensure
      attempts&.each { |stream| stream.abort unless stream.equal?(settled) }
    end

    def self.failure(stream)
      number = stream._errno
      ConnectionError.new("connect: #{SystemCallError.new(number).message}").tap { |error| error.errno = number }
    end
    private_class_method :failure

    def self.now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    private_class_method :now
  end

  class << self
    # Connects to a TCP server, by name or address.
    #
    # @param timeout [Numeric] seconds, for resolving and connecting together
    # @return [Stream]; with a block a Deferrable, and the block gets the stream
    # @raise [ResolutionError, ConnectionError, TimeoutError]
    # @asynchronous
    def connect(host, port, timeout: 10, &block)
      return spawn { connect(host, port, timeout: timeout) }.callback(&block) if block
      Connector.connect(Resolver.resolve(host, port, timeout: timeout), timeout: timeout)
    end

    # Connects to a UNIX socket.
    # @asynchronous
    def connect_unix(path, timeout: 10, &block)
      return spawn { connect_unix(path, timeout: timeout) }.callback(&block) if block
      Connector.connect([Addrinfo.unix(path)], timeout: timeout)
    end
  end
end
