# frozen_string_literal: true

require "socket"

module Pelton
  # Resolves names without blocking the loop. The system's own resolver does it, in threads of its own: slow name servers
  # take none from {Offload}. Nothing is kept, because the system tells no time to live; where that costs too much, run a
  # caching resolver beside the program, as for any other.
  module Resolver
    POOL = Offload.new(size: 10)

    # @param host [String] a name, or an address, which takes no thread
    # @param port [Integer, String, nil]
    # @param timeout [Numeric, nil] seconds
    # @return [Array<Addrinfo>] for TCP, in the order in which to try them: the system's, but IPv6 and IPv4 take turns, so
    #   that one family out of order delays little (RFC 8305)
    # @raise [ResolutionError] for a name that does not exist, or cannot be resolved now
    # @raise [TimeoutError]
    # @asynchronous
    def self.resolve(host, port, timeout: nil)
      host = host.to_str.delete_prefix("[").delete_suffix("]") # as URIs write IPv6
      return look_up(host, port, Socket::AI_NUMERICHOST) if host.match?(/:|\A[\d.]+\z/)
      take_turns(POOL.call(timeout: timeout) { look_up(host, port) })
    rescue SocketError => error
      raise ResolutionError, "cannot resolve #{host.inspect}: #{error.message}"
    end

    def self.look_up(host, port, flags = 0) = Addrinfo.getaddrinfo(host, port, nil, :STREAM, nil, flags)
    private_class_method :look_up

    def self.take_turns(addresses)
      first, second = addresses.partition { |address| address.afamily == addresses.first.afamily }
      longer, shorter = (first.size < second.size) ? [second, first] : [first, second]
      pairs = longer.zip(shorter)
      pairs.each(&:reverse!) if longer.equal?(second)
      pairs.flatten(1).compact
    end
    private_class_method :take_turns
  end
end
