# frozen_string_literal: true

require "socket"

module Pelton
  # Resolves names without blocking the loop. It calls the system's resolver in a pool of threads of its own, so that
  # slow name servers take no thread from {Offload::POOL}. It caches nothing, because the system's resolver does not say
  # how long an answer is valid; where that costs too much, run a caching name server on the machine.
  module Resolver
    POOL = Offload.new(concurrency: 10)

    # @param host [String] a name; or an IP address, which takes no thread
    # @param port [Integer, String, nil]
    # @param timeout [Numeric, nil] seconds
    # @return [Array<Addrinfo>] addresses for TCP, in the order in which to try them: the system's order, but IPv6 and
    #   IPv4 addresses alternate, so that a family that does not work delays little (RFC 8305)
    # @raise [ResolutionError] when the name does not exist, or cannot be resolved now
    # @raise [TimeoutError] when the time is over first
    # @asynchronous
    def self.resolve(host, port, timeout: nil)
      host = host.to_str.delete_prefix("[").delete_suffix("]") # as URIs write IPv6
      return look_up(host, port, Socket::AI_NUMERICHOST) if host.match?(/:|\A[\d.]+\z/)
      interleave(POOL.call(timeout: timeout) { look_up(host, port) })
    rescue SocketError => error
      raise ResolutionError, "cannot resolve #{host.inspect}: #{error.message}"
    end

    def self.look_up(host, port, flags = 0) = Addrinfo.getaddrinfo(host, port, nil, :STREAM, nil, flags)
    private_class_method :look_up

    def self.interleave(addresses)
      first, second = addresses.partition { |address| address.afamily == addresses.first.afamily }
      longer, shorter = (first.size < second.size) ? [second, first] : [first, second]
      pairs = longer.zip(shorter)
      pairs.each(&:reverse!) if longer.equal?(second)
      pairs.flatten(1).compact
    end
    private_class_method :interleave
  end
end
