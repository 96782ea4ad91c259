# frozen_string_literal: true

require_relative "../address"

module Pelton
  module Memcached
    # The address of a server, and its weight among several.
    class Address
      DEFAULT_PORT = 11211
      NETWORK =
        /\A(?:\[(?<host>[0-9A-Za-z:.%_-]{2,255})\]|(?<host>[^:\[\]\s\/@]{1,255}))
          (?::(?<port>\d{1,5}))?(?::(?<weight>\d{1,9}))?\z/x
      SOCKET = /\A(?<path>\/[^:\0]+)(?::(?<weight>\d{1,9}))?\z/
      private_constant :NETWORK, :SOCKET

      # @return [String, nil] a name or an address; nil for a UNIX socket
      attr_reader :host
      # @return [Integer, nil] nil for a UNIX socket
      attr_reader :port
      # @return [String, nil] the path of a UNIX socket
      attr_reader :path
      # @return [Integer] 1 or more: a server of weight 2 stores twice as many keys as a server of weight 1
      attr_reader :weight

      # @param text [String, Address] "host", "host:port", "host:port:weight", "[ipv6]:port:weight", "/path" or
      #   "/path:weight". The port is 11211 and the weight is 1 unless the text names them
      # @return [Address]
      # @raise [ArgumentError] the text is not an address, or its port or weight is out of range
      def self.parse(text)
        return text if text.is_a?(Address)
        match = NETWORK.match(text) || SOCKET.match(text) || raise(ArgumentError, "a server is \"host:port\", " \
          "\"host:port:weight\", \"[ipv6]:port\" or the path of a UNIX socket, not " \
          "#{text.is_a?(String) ? Pelton::Address.without_secrets(text).inspect : text.class}")
        new(**match.named_captures.compact.transform_keys(&:to_sym))
      end

      def initialize(host: nil, path: nil, port: DEFAULT_PORT, weight: 1)
        @host, @path = host, path
        @port = Integer(port) if host
        @weight = Integer(weight)
        raise ArgumentError, "a port is 1 to 65535, not #{port}" unless path || @port.between?(1, 65_535)
        raise ArgumentError, "a weight is 1 or more, not #{weight}" unless @weight.positive?
        freeze
      end

      # @return [String] the address without the weight, as {.parse} reads it
      def to_s
        return path if path
        "#{host.include?(":") ? "[#{host}]" : host}:#{port}"
      end

      # @return [String] the name that libmemcached hashes to place the server on its hash ring
      def ring_name
        return "#{path}:0" if path
        (port == DEFAULT_PORT) ? host : "#{host}:#{port}"
      end

      def ==(other) = other.is_a?(Address) && to_s == other.to_s && weight == other.weight
      alias_method :eql?, :==

      def hash = [self.class, to_s, weight].hash

      def inspect = "#<#{self.class} #{self}#{" weight #{weight}" if weight > 1}>"
    end
  end
end
