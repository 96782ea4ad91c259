# frozen_string_literal: true

module EventMachine
  module Protocols
    # Ruby objects, each with its length in four bytes before it.
    #
    #     module Server
    #       include EM::P::ObjectProtocol
    #
    #       def receive_object(object)
    #         send_object("you said" => object)
    #       end
    #     end
    #
    # Marshal, the default {#serializer}, lets the peer create any object, and so run any code. Use it between your own
    # programs only, and JSON with others.
    module ObjectProtocol
      # @return [#dump, #load]
      def serializer = Marshal

      # @private
      def receive_data(data)
        buffer = @op_buffer ||= "".b
        buffer << data
        while buffer.size >= 4 && buffer.size >= 4 + (size = buffer.unpack1("N"))
          buffer.slice!(0, 4)
          receive_object(serializer.load(buffer.slice!(0, size)))
        end
      end

      # Called with each object.
      def receive_object(object)
      end

      # Sends an object.
      def send_object(object)
        data = serializer.dump(object)
        send_data([data.bytesize].pack("N") << data.b)
      end
    end
  end
end
