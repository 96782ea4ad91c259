# frozen_string_literal: true

require_relative "item"

module Pelton
  module Memcached
    # What a client makes of replies before its caller gets them, where that is more than what C does: values are decoded,
    # and the instrument is told.
    #
    # @private
    module Decoding
      private

      # Ends a command. The commands call it in C.
      #
      # @param operation [Operation] of the reply
      # @param decode [Symbol, nil] the method that makes the value of it
      # @param told [#call, nil] the instrument's, which hears the end
      # @param direct [Boolean] whether the caller waits for the value; otherwise it gets an Operation
      # @param block [Proc, nil] callback style's
      def conclude(operation, decode, told, direct, block)
        return take(operation, decode, told) if direct
        concluded = Operation.new
        if Pelton.running?
          operation.callback { |reply| settle(concluded) { finish(reply, decode, told) } }
          operation.errback { |error| settle(concluded) { fail_with(error, told) } }
        else
          settle(concluded) { take(operation, decode, told) }
        end
        block ? concluded.callback(&block) : concluded
      end

      def take(operation, decode, told)
        begin
          reply = operation.await
        rescue => error
          fail_with(error, told)
        end
        finish(reply, decode, told)
      end

      def settle(concluded)
        concluded.succeed(yield)
      rescue => error
        concluded.fail(error)
      end

      def finish(reply, decode, told)
        begin
          reply = __send__(decode, reply) if decode
        rescue => error
          fail_with(error, told)
        end
        told&.call(reply, nil)
        reply
      end

      def fail_with(error, told)
        told&.call(nil, error)
        raise error
      end

      # A value has no flags, or comes with them.
      def decode_value(reply) = reply.is_a?(Array) ? @value.load(*reply) : reply

      def decode_values(replies) = replies.transform_values! { |reply| decode_value(reply) }

      def decode_gets(reply) = reply && [decode_value(reply.first), reply.last]

      def make_item(reply) = reply && Item.new(*reply)

      def decode_item(reply)
        item = make_item(reply) or return
        item.value = @value.load(item.value, item.flags)
        item
      end
    end
  end
end
