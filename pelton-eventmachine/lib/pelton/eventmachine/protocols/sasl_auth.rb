# frozen_string_literal: true

module EventMachine
  module Protocols
    # The server's side of saslauthd's protocol, which mail servers and the like use to check a user's password. It has
    # no encryption: serve it on a UNIX socket.
    #
    #     class Handler < EM::Connection
    #       include EM::P::SASLauth
    #
    #       def validate(user, password, service, realm)
    #         user == "mickey" && password == "mouse"
    #       end
    #     end
    #     EM.start_unix_domain_server("/var/run/saslauthd/mux", Handler)
    module SASLauth
      # EventMachine's limit for a field, in bytes. The protocol itself has no longer fields than 65,535 bytes.
      MaxFieldSize = 128 * 1024 # standard:disable Naming/ConstantName

      # @private
      def receive_data(data)
        buffer = @sasl_buffer ||= "".b
        buffer << data
        while (request = sasl_take(buffer))
          answer = validate(*request) ? "OK" : "NO"
          send_data([answer.size, answer].pack("nA*"))
        end
      end

      # Checks a password. A class overrides this method; by default every password is wrong.
      #
      # @param user [String]
      # @param password [String]
      # @param service [String] "imap", for example
      # @param realm [String]
      # @return [Boolean] whether the password is right
      def validate(user, password, service, realm) = false

      private

      # A request is four fields, each with its length in two bytes before it.
      def sasl_take(buffer)
        stop = 0
        fields = Array.new(4) do
          size = buffer.byteslice(stop, 2).to_s.unpack1("n") or return
          return if buffer.bytesize < stop + 2 + size
          buffer.byteslice(stop + 2, size).tap { stop += 2 + size }
        end
        buffer.slice!(0, stop)
        fields
      end
    end
  end
end
