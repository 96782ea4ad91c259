# frozen_string_literal: true

require "socket"

module Pelton
  # Where to listen, as text: tcp://HOST:PORT, ssl://HOST:PORT (an IPv6 host in brackets) or unix:///PATH.
  class Address
    # @private Where to listen for a name. For localhost it is 127.0.0.1, even if the system has ::1 before it: who goes there
    # by name tries both, who goes to 127.0.0.1 only that.
    #
    # @return [Addrinfo]
    # @raise [ResolutionError]
    def self.resolve(host, port)
      all = Addrinfo.getaddrinfo(host, port, nil, :STREAM)
      (all.find(&:ipv4?) if host == "localhost") || all.first
    rescue SocketError => error
      raise ResolutionError, "#{host}: #{error.message}"
    end

    # @return [String, nil] a name or an address; nil for a UNIX socket
    attr_reader :host

    # @return [Integer, nil]
    attr_reader :port

    # @return [String, nil] of a UNIX socket
    attr_reader :path

    # @param text [String]
    # @raise [ArgumentError] it is none of the three
    def initialize(text)
      case text
      when %r{\A(tcp|ssl)://(?:\[([^\]]+)\]|([^:/\[\]]+)):(\d{1,5})/?\z}
        @tls, @host, @port = $1 == "ssl", $2 || $3, Integer($4, 10)
        raise ArgumentError, "#{text}: a port is 65535 at most" if port > 65_535
      when %r{\Aunix://(/?[^?]+)\z}
        @path = $1
      else
        raise ArgumentError, "#{text.inspect}: give tcp://HOST:PORT, ssl://HOST:PORT or unix:///PATH"
      end
    end

    # Whether it is ssl://.
    def tls? = !!@tls

    # @return [Addrinfo]
    # @raise [ResolutionError]
    def to_addrinfo = path ? Addrinfo.unix(path) : Address.resolve(host, port)
  end
end
