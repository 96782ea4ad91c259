# frozen_string_literal: true

require "ipaddr"

module Pelton
  module Web
    # Middleware: trusts headers of proxies (`X-Forwarded-For`, `-Host`, `-Proto`) only from trusted ones. The env then
    # has the client's address, host and scheme. From all others the headers are removed, because any client can send
    # them, and Rack and other libraries believe them.
    #
    # A trusted proxy must set or remove each of these headers: nginx forwards what the client sends.
    #
    #     use Pelton::Web::Proxies, ["127.0.0.1", "10.0.0.0/8", "unix"]
    class Proxies
      UNIX = "unix"
      KNOWN = 1000 # remembered addresses
      private_constant :UNIX, :KNOWN

      # @private
      def self.wrap(app, settings) = new(app, settings.trusted_proxies)

      # @param app [#call]
      # @param trusted [Array<String>] addresses and networks; "unix" stands for UNIX sockets
      # @raise [ConfigurationError] if an address is malformed
      def initialize(app, trusted = [])
        @app = app
        @unix = trusted.include?(UNIX)
        @networks = (trusted - [UNIX]).map { |address| IPAddr.new(address) }
        @some = trusted.any?
        @known = {}
      rescue IPAddr::Error => error
        raise ConfigurationError,
          "trusted proxies: #{error.message}: give addresses such as 127.0.0.1 or 10.0.0.0/8, or \"unix\""
      end

      # @asynchronous if the application waits
      def call(env)
        follow(env) if @some && trusted?(env["REMOTE_ADDR"])
        env.delete("HTTP_X_FORWARDED_FOR") # one by one: a block would take twice as long, for every request
        env.delete("HTTP_X_FORWARDED_HOST")
        warn_of(env) if env.delete("HTTP_X_FORWARDED_PROTO") == "https" && env["rack.url_scheme"] != "https"
        env.delete("HTTP_X_FORWARDED_PORT")
        env.delete("HTTP_X_FORWARDED_SCHEME")
        env.delete("HTTP_X_FORWARDED_SSL")
        env.delete("HTTP_FORWARDED")
        @app.call(env)
      end

      private

      # Once: any client can send it.
      def warn_of(env)
        return if @warned
        @warned = true
        address = env["REMOTE_ADDR"].to_s
        address = "a UNIX socket's peer (\"unix\")" if address.empty?
        Pelton.logger.warn("#{address} sends X-Forwarded-Proto: https, and is not among settings.trusted_proxies: " \
          "if it is your proxy, cookies are not Secure and all clients share its rate limits until you add it")
      end

      def follow(env)
        proto, host, addresses = env.values_at("HTTP_X_FORWARDED_PROTO", "HTTP_X_FORWARDED_HOST",
          "HTTP_X_FORWARDED_FOR")
        env["rack.url_scheme"] = proto if proto == "https" || proto == "http"
        env["HTTP_HOST"] = host if host
        env["REMOTE_ADDR"] = client(addresses) || env["REMOTE_ADDR"] if addresses
      end

      # The nearest address that is not a trusted proxy's: the client may have written those before it.
      def client(addresses)
        nearest = nil
        addresses.split(",").reverse_each do |text|
          address = text.strip.sub(/\A\[(.*)\](?::\d+)?\z/, '\1').sub(/\A([\d.]+):\d+\z/, '\1')
          return nearest unless parse(address)
          nearest = address
          break unless trusted?(address)
        end
        nearest
      end

      def trusted?(address)
        return @unix if address.nil? || address.empty?
        return @known[address] if @known.key?(address)
        @known.clear if @known.size >= KNOWN
        parsed = parse(address)
        @known[address] =
          !!parsed && @networks.any? { |network| network.family == parsed.family && network.include?(parsed) }
      end

      def parse(address)
        parsed = IPAddr.new(address)
        parsed.ipv4_mapped? ? parsed.native : parsed
      rescue IPAddr::Error
        nil
      end
    end

    class Settings
      # @!attribute trusted_proxies
      #   @return [Array<String>] proxies whose X-Forwarded headers count; none by default: see {Proxies}
      setting(:trusted_proxies, [].freeze) do |value|
        "must be an Array of addresses" unless value.is_a?(Array) && value.all?(String)
      end
    end
  end
end
