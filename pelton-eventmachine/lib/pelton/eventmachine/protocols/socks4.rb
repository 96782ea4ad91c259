# frozen_string_literal: true

require "ipaddr"

module EventMachine
  module Protocols
    # A connection through a SOCKS4 proxy. A subclass is written as for a direct connection: its `post_init` is called
    # when the proxy has connected. If the proxy refuses, the connection is closed.
    #
    #     class Client < EM::P::Socks4
    #       def post_init
    #         send_data("hello")
    #       end
    #     end
    #     EM.connect(proxy_host, proxy_port, Client, host, port)
    #
    # SOCKS4 supports IPv4 only. The client resolves names itself, without blocking the loop.
    class Socks4 < Connection
      # Stands before the subclass's own methods until the proxy has replied.
      module Negotiation
        def post_init
          return super if @socks_agreed
          request = EventMachine::DNS::Resolver.resolve(@socks_host)
          request.callback { |addresses| socks_request(addresses) }
          request.errback { close_connection }
        end

        def receive_data(data)
          return super if @socks_agreed
          @socks_answer << data
          return if @socks_answer.bytesize < 8
          return close_connection unless @socks_answer.getbyte(1) == Socks4::GRANTED
          @socks_agreed = true
          post_init
          receive_data(@socks_answer.byteslice(8..)) if @socks_answer.bytesize > 8
        end
      end
      private_constant :Negotiation

      GRANTED = 90

      # @param host [String] the host to which the proxy connects
      # @param port [Integer]
      def initialize(host, port)
        super
        @socks_host, @socks_port = host, Integer(port)
        @socks_answer = "".b
        extend Negotiation
      end

      private

      def socks_request(addresses)
        address = addresses.map { |text| IPAddr.new(text) }.find(&:ipv4?)
        return close_connection unless address
        send_data([4, 1, @socks_port].pack("CCn") << address.hton << "\0")
      end
    end
  end
end
