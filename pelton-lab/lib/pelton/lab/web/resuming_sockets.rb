# frozen_string_literal: true

require "json"
require "pelton/clock"

module Pelton
  module Lab
    # Clients of the extended protocol that come back whenever they are told to, or are cut off, and ask for what they
    # have missed. Each notes the messages that it has got, by their texts. They live in a thread with a reactor of its
    # own.
    class ResumingSockets
      PROTOCOL = "actioncable-v1-ext-json"
      # Seconds before a client comes back: they spread, as real ones do.
      BACK = 0.05..0.5
      private_constant :BACK

      # Waits until all have subscribed.
      # @param url [String] "ws://..."
      # @param channel [Hash] the channel's identifier
      def initialize(run, url, size, channel:, timeout: 30)
        require "pelton/http"
        @run = run
        @url = url
        @timeout = timeout
        @identifier = JSON.generate(channel)
        @clients = Array.new(size) { {positions: {}, seen: Hash.new(0)} }
        @subscribed = @returns = 0
        @thread = Thread.new { Pelton.run { Pelton.map(@clients, concurrency: size) { |client| stay(client) } } }
        @thread.report_on_exception = false
        await("subscribed") { @subscribed == size }
      end

      # @return [Integer] how often clients have come back
      attr_reader :returns

      # Waits until all are there, and each has got so many messages, or gives up.
      # @return [Integer] the messages that clients have missed
      def missed(messages)
        late = Clock.now + @timeout
        sleep 0.05 until (@subscribed == @clients.size && @clients.all? { |client| client[:seen].size == messages }) ||
            Clock.now > late
        if @clients.flat_map { |client| client[:seen].keys }.uniq.size > messages
          @run.wrong("a client got a message that the others did not")
        end
        @clients.sum { |client| messages - client[:seen].size }
      end

      def close = @thread.kill.join

      private

      def stay(client)
        loop do
          attend(client)
        rescue ConnectionError, ClosedError, TimeoutError
          nil # the server is not there yet
        ensure
          @subscribed -= 1 if client.delete(:subscribed)
          @returns += 1
          sleep(rand(BACK))
        end
      end

      def attend(client)
        socket = HTTP::WebSocket.connect(@url, protocols: [PROTOCOL], timeout: @timeout, deflate: false)
        socket.each { |text| take(client, socket, JSON.parse(text)) }
      ensure
        socket&.close
      end

      def take(client, socket, message)
        case message["type"]
        when "welcome" then socket.write(JSON.generate({command: "subscribe", identifier: @identifier,
          **history(client)}))
        when "confirm_subscription" then client[:subscribed] = !!(@subscribed += 1)
        when nil
          client[:seen][JSON.generate(message["message"])] += 1
          client[:positions][message["stream_id"]] = message.slice("epoch", "offset")
        end
      end

      def history(client) = client[:positions].empty? ? {} : {history: {streams: client[:positions]}}

      def await(what)
        late = Clock.now + @timeout
        until yield
          @run.wrong("not all clients have #{what} within #{@timeout} s") if Clock.now > late
          @thread.join(0.01) # raises its error
        end
      end
    end
  end
end
