# frozen_string_literal: true

module Pelton
  module HTTP
    # Requests whose host is another than the one that TLS has named on their connection, on a server with `sni:`. A
    # client that was asked for no certificate gets nothing of a host that asks for one.
    # @private
    module Misdirection
      TEXT = "this connection was not made for the host of the request: make another one that names it (SNI)\n"
      private_constant :TEXT

      # @param choice [TLS::Choice] of the connection
      # @param env [Hash] of the request
      # @return [String, Array] the host, if the request may be answered; or the response that refuses it (RFC 9110,
      #   15.5.20)
      # @asynchronous if `sni:` waits
      def self.check(choice, env, stream)
        host = TLS::Choice.canonical(env["HTTP_HOST"].to_s.sub(/:\d*\z/, ""))
        choice.serves?(host, stream) ? host : [421, {"content-type" => "text/plain"}, [TEXT]]
      end
    end
  end
end
