# frozen_string_literal: true

module Pelton
  module Rails
    class Cable
      # What is between a session of {Pelton::Cable} and a connection of Rails: executes the session's commands on the
      # connection and its channels, and is the connection's socket.
      class Client
        include Opaque

        # Names of classes that Rails may look for.
        CHANNEL = /\A(?:::)?[A-Z]\w*(?:::[A-Z]\w*)*\z/
        # Of a close frame: the server has failed.
        FAILED = 1011
        private_constant :CHANNEL, :FAILED

        # @return [ActionCable::Connection::Base]
        attr_reader :connection

        # @return [Cable]
        attr_reader :cable

        # @return [Pelton::Cable::Session]
        attr_reader :session

        # @param env [Hash] Rack's, which is not kept
        def initialize(cable, env, connection)
          @cable = cable
          @env = env
          @connection = connection
          connection.pelton_client = self
        end

        # ---- the connection's socket; any thread may call these

        # @return [Array] the response for Rack: Rails' own for a socket that is open, whose body is closed, by which
        #   the executor ends
        def rack_response
          env, @env = @env, nil
          response = @cable.cable.accept(env) { |session| tap { @session = session } }
          (response.first == 101) ? [-1, {}, []] : response
        end

        def alive? = !!@session&.socket&.open?

        # @param text [String]
        def transmit(text) = alive? && @cable.call { @session.transmit(text) }

        def close(code = nil, reason = nil)
          alive? && @cable.call { @session.socket.close(code || 1000, reason || "") }
        end

        def protocol = @session&.socket&.protocol

        # ---- what executes the session's commands: see Pelton::Cable::Subscriptions

        def open
          @channels = @connection.subscriptions.__send__(:subscriptions)
          @connection.on_open
          return turn_away unless @admitted
          # It can be made again
          @connection.remove_instance_variable(:@request) if @connection.instance_variable_defined?(:@request)
          true
        end

        def size = @channels.size

        def include?(identifier) = @channels.key?(identifier)

        def subscribe(command)
          name = @session.parse(command["identifier"], "the identifier")["channel"]
          unless name.is_a?(String) && CHANNEL.match?(name)
            raise Pelton::Cable::Refused, "there is no channel #{name.inspect[0, 100]}"
          end
          @rejected = @failed = false
          execute(command)
          return failed_subscription(command["identifier"]) if @failed
          return true if include?(command["identifier"])
          raise Pelton::Cable::Refused, "there is no channel #{name[0, 100]}" unless @rejected
        end

        def unsubscribe(command) = execute(command)

        def perform(command)
          @session.parse(command["data"], "the data")
          execute(command)
        end

        def streams(identifier) = @channels[identifier].pelton_streams

        def followers(identifier) = @channels[identifier].pelton_followers

        # Rails' channels have none.
        def presence(_identifier) = nil

        # Rails' sessions are not restored: clients subscribe again.
        def forget = nil

        def stop
          @connection.on_close(@session.socket.close_reason, @session.socket.close_code)
        ensure
          release
        end

        # ---- what Rails' classes tell

        # The connection has greeted its client.
        def admitted = @admitted = true

        # A channel has rejected.
        def rejected
          @rejected = true
          @cable.cable.count(:rejected)
        end

        # A command has failed.
        def failed
          @failed = true
          @cable.cable.count(:errors)
          @session.failed
        end

        # Ends what is left of the channels, whose own end may have failed.
        def release = @channels&.each_value(&:pelton_release)

        private

        # As Rails' channels have it, the client gets no answer: @rails/actioncable subscribes again by itself. One of
        # the extended protocol does not.
        #
        # @return [:failed, nil]
        def failed_subscription(identifier)
          @channels.delete(identifier)&.pelton_release
          :failed if @session.extended?
        end

        # Rails has closed the socket of a client that may not connect. If `connect` has failed, the client may come
        # back.
        def turn_away
          @cable.cable.count(:unauthorized) unless alive? || @session.socket.closed?
          close(FAILED)
          @connection.on_close("", FAILED)
          false
        end

        # Rails 7.0 has no callbacks of commands.
        def execute(command)
          return unless alive?
          receiver, method = @connection, :handle_channel_command
          receiver, method = @connection.subscriptions, :execute_command unless receiver.respond_to?(method)
          @cable.cable.within_time do
            @connection.worker_pool.invoke(receiver, method, command, connection: @connection)
          end
        rescue TimeoutError # the worker has logged and counted it
          @failed = true
        end
      end
    end
  end
end
