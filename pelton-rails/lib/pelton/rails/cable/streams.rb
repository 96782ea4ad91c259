# frozen_string_literal: true

module Pelton
  module Rails
    class Cable
      # The streams of Rails' channels. Without a block a message is encoded once for all subscriptions with the same
      # identifier, in the form in which it was broadcast; a block gets each message, one after the other.
      module Streams
        # @param broadcasting [String]
        # @param callback [#call, nil]
        # @param coder [#decode, nil] nil: a block gets the message in the form in which it was broadcast
        def stream_from(broadcasting, callback = nil, coder: nil, &block)
          client = connection.try(:pelton_client) or return super
          return if respond_to?(:unsubscribed?) && unsubscribed?
          name = String(broadcasting)
          handler = callback || block
          stop_stream_from(name)
          defer_subscription_confirmation!
          @_streams ||= {}
          @_streams[name] =
            if handler || differs?(coder)
              handle(client, name, stream_handler(name, handler, coder: coder))
            else
              pass_on(client, name)
            end
          client.cable.topics.ready(name) do
            next unless @_streams.key?(name)
            ensure_confirmation_sent
            logger.info "#{self.class.name} is streaming from #{name}"
          end
        end

        def stop_stream_from(broadcasting)
          return super unless connection.try(:pelton_client)
          stream = @_streams&.delete(String(broadcasting)) or return
          stream.close
          logger.info "#{self.class.name} stopped streaming from #{broadcasting}"
        end

        def stop_all_streams
          return super unless connection.try(:pelton_client)
          pelton_followers.each(&:stop).clear
          @_streams&.keys&.each { |name| stop_stream_from(name) }
        end

        # @return [Array<String>] whose messages go to the client as they are
        # @private
        def pelton_streams = @_streams.to_h.select { |_, stream| stream.is_a?(Passed) }.keys

        # @return [Array<Pelton::Cable::Follower>]
        # @private
        def pelton_followers = @pelton_followers ||= []

        # A text's place in the subscription, of which it has one.
        #
        # @param follower [Pelton::Cable::Follower]
        # @return [nil]
        # @private
        def pelton_follow(follower)
          pelton_followers.reject! { |one| one.name == follower.name && one.stop }
          pelton_followers << follower
          nil
        end

        # @private
        def pelton_release
          pelton_followers.each(&:stop).clear
          @_streams&.each_value(&:close)&.clear
          stop_periodic_timers
        end

        # Messages that sockets get as they are.
        Passed = Struct.new(:ending) do
          def close = ending.call
        end
        private_constant :Passed

        private

        def pass_on(client, name) = Passed.new(client.cable.cable.streams.add(name, self, client.session, nil))

        # A client whose handler is too slow is closed, and comes back.
        def handle(client, name, handler)
          gap = -> { client.cable.cable.gap([client.session.socket]) }
          client.cable.topics.attach(name, direct: false, gap: gap,
            max_bytes: PubSub::Subscription::MAX_BYTES) do |message|
            connection.worker_pool.invoke(handler, :call, message, connection: connection)
          end
        end

        # Whether messages must go through methods that the application has overridden.
        def differs?(coder)
          (coder && coder != ::ActiveSupport::JSON) || method(:transmit).owner != ::ActionCable::Channel::Base ||
            %i[transmit encode].any? { |name| connection.method(name).owner != ::ActionCable::Connection::Base }
        end

        def transmit_subscription_rejection
          connection.try(:pelton_client)&.rejected
          super
        end
      end
    end
  end
end
