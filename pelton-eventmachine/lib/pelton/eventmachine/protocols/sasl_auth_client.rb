# frozen_string_literal: true

module EventMachine
  module Protocols
    # The client's side of saslauthd's protocol, for a connection to {SASLauth} or to saslauthd itself.
    module SASLauthclient
      MaxFieldSize = 128 * 1024 # standard:disable Naming/ConstantName

      # Asks whether a password is right.
      #
      # @return [DefaultDeferrable] succeeds when it is right; fails when it is wrong, or the connection ends before the
      #   reply
      # @raise [ArgumentError] when a field is longer than 65,535 bytes
      def validate?(user, password, service = nil, realm = nil)
        fields = [user, password, service, realm].map(&:to_s)
        raise ArgumentError, "a field is longer than 65535 bytes" if fields.any? { |field| field.bytesize > 65_535 }
        send_data(fields.map { |field| [field.bytesize, field].pack("na*") }.join)
        DefaultDeferrable.new.tap { |answer| sasl_asked << answer }
      end

      # @private
      def receive_data(data)
        buffer = @sasl_buffer ||= "".b
        buffer << data
        while buffer.bytesize >= 2 && buffer.bytesize >= 2 + (size = buffer.unpack1("n"))
          answer = buffer.slice!(0, 2 + size).byteslice(2, size)
          answer.start_with?("OK") ? sasl_asked.shift&.succeed : sasl_asked.shift&.fail
        end
      end

      # @private
      def unbind(*)
        sasl_asked.shift.fail until sasl_asked.empty?
      end

      private

      def sasl_asked = @sasl_asked ||= []
    end
  end
end
