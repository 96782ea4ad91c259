# frozen_string_literal: true

require_relative "item"

module Pelton
  module Memcached
    # The Ruby side of a command's end: it decodes values and notifies subscribers. Commands that need neither end in C.
    #
    # @private
    module Decoding
      READING = %i[get gets gat item].freeze
      private_constant :READING

      # A command begins, and somebody subscribes to `command.memcached`.
      #
      # @return [#call, nil]
      def self._began(command, key)
        event = Notifications.start("command.memcached") { {command: command, key: key} } or return
        lambda do |value, error|
          event.payload[:hit] = !value.nil? if READING.include?(command) && !error
          event.finish(error)
        end
      end

      private

      # Ends a command.
      #
      # @param operation [Operation] completes with the reply
      # @param decode [Symbol, nil] the method that turns the reply into the value
      # @param on_end [#call, nil] is called with the value and the error: see {._began}
      # @param direct [Boolean] whether the caller waits for the value; otherwise it gets an Operation
      # @param block [Proc, nil] the block of callback style
      def conclude(operation, decode, on_end, direct, block)
        return await_reply(operation, decode, on_end) if direct
        concluded = Operation.new
        if Pelton.running?
          operation.callback { |reply| settle(concluded) { finish(reply, decode, on_end) } }
          operation.errback { |error| settle(concluded) { fail_with(error, on_end) } }
        else
          settle(concluded) { await_reply(operation, decode, on_end) }
        end
        block ? concluded.callback(&block) : concluded
      end

      def await_reply(operation, decode, on_end)
        begin
          reply = operation.await
        rescue Exception => error # standard:disable Lint/RescueException -- raised again
          fail_with(error, on_end)
        end
        finish(reply, decode, on_end)
      end

      def settle(concluded)
        concluded.succeed(yield)
      rescue => error
        concluded.fail(error)
      end

      def finish(reply, decode, on_end)
        begin
          reply = __send__(decode, reply) if decode
        rescue Exception => error # standard:disable Lint/RescueException -- raised again
          fail_with(error, on_end)
        end
        on_end&.call(reply, nil)
        reply
      end

      def fail_with(error, on_end)
        on_end&.call(nil, error)
        raise error
      end

      # A reply is the value alone, or the value and its flags.
      def decode_value(reply) = reply.is_a?(Array) ? @value.load(*reply) : reply

      def decode_values(replies) = replies.transform_values! { |reply| decode_value(reply) }

      def decode_gets(reply) = reply && [decode_value(reply.first), reply.last]

      def make_item(reply) = reply && Item.new(*reply)

      def decode_item(reply)
        item = make_item(reply) or return
        item.value = @value.load(item.value, item.flags)
        item
      end

      Pelton.register_upcalls(command_began: method(:_began),
        **%i[conclude decode_value decode_values decode_gets decode_item make_item]
          .to_h { |name| [name, instance_method(name)] })
    end
  end
end
