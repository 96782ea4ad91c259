# frozen_string_literal: true

require "rbconfig" # without RubyGems, the resolv of Ruby 3.4 misses it
require "resolv"

module EventMachine
  # Resolves names to addresses. {EventMachine.connect} does not need it: it uses the system's resolver, without
  # blocking the loop.
  module DNS
    autoload :Request, "pelton/eventmachine/dns/request"

    # A resolver that reads /etc/hosts and asks the name servers of /etc/resolv.conf.
    class Resolver
      class << self
        # Looks up the addresses of a name: IPv4, or IPv6 if the name has no IPv4 address.
        #
        # @param hostname [String] a name or an address
        # @return [Request] a Deferrable that succeeds with an Array of addresses, or fails with a message
        # @raise [ArgumentError] when the argument cannot be a name
        def resolve(hostname) = Request.new(self, hostname)

        # @param servers [Array<String>, nil] addresses: "10.0.0.1", "10.0.0.1:5353", "[::1]:53"; nil: the system's
        def nameservers=(servers)
          @nameservers = servers && Array(servers)
        end

        # @return [Array<String>]
        def nameservers
          @nameservers ||= Resolv::DNS::Config.default_config_hash[:nameserver] || ["127.0.0.1"]
        end

        # @return [String] one of {nameservers}, chosen at random
        def nameserver = nameservers.sample

        # @return [Hash{String => Array<String>}] the addresses in /etc/hosts, by name
        def hosts
          @hosts ||= read_hosts
        end

        # @return [Array<String>] the names to try: a name without a dot is tried in the search domains of resolv.conf
        #   first
        # @private
        def names(hostname)
          return [hostname] if hostname.include?(".")
          search = Resolv::DNS::Config.default_config_hash[:search] || []
          search.map { |domain| "#{hostname}.#{domain}" } << hostname
        end

        # Requests share no socket: each has its own, so that attackers cannot guess the port to which a forged answer
        # would have to be sent.
        # @private
        def socket = self

        def windows? = false

        private

        def read_hosts
          hosts = Hash.new { |_, _| nil }
          File.foreach("/etc/hosts") do |line|
            address, *names = line.sub(/#.*/, "").split
            names.each { |name| (hosts[name.downcase] ||= []) << address }
          end
          hosts
        rescue SystemCallError
          {}
        end
      end
    end
  end
end
