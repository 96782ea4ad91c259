# frozen_string_literal: true

require "socket"

module Pelton
  # An address to listen on, as text: tcp://HOST:PORT, ssl://HOST:PORT (an IPv6 host in brackets) or unix:///PATH.
  class Address
    # The address to listen on for a name. For localhost it is 127.0.0.1, even if the system lists ::1 first: a client
    # that connects to the name tries both, but a client that connects to 127.0.0.1 tries that alone.
    #
    # @private
    # @return [Addrinfo]
    # @raise [ResolutionError]
    def self.resolve(host, port)
      all = Addrinfo.getaddrinfo(host, port, nil, :STREAM)
      (all.find(&:ipv4?) if host == "localhost") || all.first
    rescue SocketError => error
      raise ResolutionError, "#{host}: #{error.message}"
    end

    # @private
    # @return [String] an address of any kind for messages, where no password can be seen, nor a query, which may
    #   contain one
    def self.without_secrets(text)
      text = text.to_s
      text = if text.include?("@")
        text.sub(%r{\A(\w+://[^:/@]*:)?.*@}m) { "#{$1}...@" }
      else
        text.sub(%r{(://[^:/\[]+):(?!\d*(?:[/?,]|\z)).*}m, '\1:...') # the host has been forgotten
      end
      text.sub(/\?.*/m, "?...")
    end

    # @return [String, nil] a name or an IP address; nil for a UNIX socket
    attr_reader :host

    # @return [Integer, nil] nil for a UNIX socket
    attr_reader :port

    # @return [String, nil] the path of a UNIX socket; nil for the others
    attr_reader :path

    # @param text [String]
    # @raise [ArgumentError] when the text has none of the three forms, or a port above 65535
    def initialize(text)
      case text
      when %r{\A(tcp|ssl)://(?:\[([^\]]+)\]|([^:/\[\]]+)):(\d{1,5})/?\z}
        @tls, @host, @port = $1 == "ssl", $2 || $3, Integer($4, 10)
        raise ArgumentError, "#{text}: a port is 65535 at most" if port > 65_535
      when %r{\Aunix://(/?[^?]+)\z}
        @path = $1
      else
        raise ArgumentError,
          "#{Address.without_secrets(text).inspect}: give tcp://HOST:PORT, ssl://HOST:PORT or unix:///PATH"
      end
    end

    # @return [Boolean] whether it is an ssl:// address
    def tls? = !!@tls

    # @return [Addrinfo]
    # @raise [ResolutionError] when the host's name cannot be resolved
    def to_addrinfo = path ? Addrinfo.unix(path) : Address.resolve(host, port)
  end
end
