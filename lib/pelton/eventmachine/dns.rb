# frozen_string_literal: true

require "resolv"

module EventMachine
  # Names to addresses. {EventMachine.connect} does not need it: it looks up names by the system's resolver, without
  # blocking.
  module DNS
    autoload :Request, "pelton/eventmachine/dns_request"

    # Asks name servers itself, as /etc/hosts and /etc/resolv.conf say.
    class Resolver
      class << self
        # Looks up the addresses of a name: IPv4, or IPv6 where there is none.
        #
        # @param hostname [String] a name, or an address
        # @return [Request] a Deferrable that gets an Array of addresses; on failure a String that says why
        # @raise [ArgumentError] when it cannot be a name
        def resolve(hostname) = Request.new(self, hostname)

        # @param servers [Array<String>] addresses: "10.0.0.1", "10.0.0.1:5353", "[::1]:53". nil: those of the system
        def nameservers=(servers)
          @nameservers = servers && Array(servers)
        end

        # @return [Array<String>]
        def nameservers
          @nameservers ||= Resolv::DNS::Config.default_config_hash[:nameserver] || ["127.0.0.1"]
        end

        # @return [String] one of them
        def nameserver = nameservers.sample

        # @return [Hash{String => Array<String>}] addresses by name, of /etc/hosts
        def hosts
          @hosts ||= read_hosts
        end

        # @return [Array<String>] the names to try for one that has no dot: in the domains that resolv.conf searches, and
        #   as it is
        # @private
        def names(hostname)
          return [hostname] if hostname.include?(".")
          search = Resolv::DNS::Config.default_config_hash[:search] || []
          search.map { |domain| "#{hostname}.#{domain}" } << hostname
        end

        # @private There is none that requests share: each has its own, so that nobody can guess where an answer would
        #   have to be sent.
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
