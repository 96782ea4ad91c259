# frozen_string_literal: true

require "json"
require "pelton/clock"
require_relative "load"

module Pelton
  module Lab
    # Clients of Action Cable: sockets that subscribe to a channel and count what is broadcast there. They live in a thread with a reactor of
    # its own, which answers pings between the measurements as well.
    class CableSockets
      PROTOCOL = "actioncable-v1-json"
      # Handshakes at a time.
      BATCH = 50
      TIMEOUT = 30

      # Opens the sockets, and waits until all have subscribed.
      # @param run [Run] gets the verdict
      # @param url [String] "ws://..."
      # @param channel [Hash] the channel's identifier
      # @param headers [Hash{String => String}] of the handshakes
      # @param timeout [Numeric] seconds for all to subscribe, and for a broadcast to reach all
      def initialize(run, url, size, channel:, headers: {}, timeout: TIMEOUT)
        require "pelton/http"
        @run = run
        @size = size
        @timeout = timeout
        @identifier = JSON.generate(channel)
        @subscribed = 0
        @received = Hash.new(0) # by the text
        # A socket is a descriptor.
        Process.setrlimit(:NOFILE, Process.getrlimit(:NOFILE).last)
        @thread = Thread.new { Pelton.run { connect(url, headers) } }
        @thread.report_on_exception = false
        await("subscribed") { @subscribed == size }
      end

      # Yields so many times, for a broadcast each, which must reach all sockets before the next.
      # @return [WebLoad::Done] the delivered messages
      def deliver(times)
        started = Clock.now
        times.times do
          @received.clear
          yield
          await("received the message") { @received.values == [@size] }
        end
        WebLoad::Done.new(@size * times, Clock.now - started)
      end

      def close
        @thread.kill.join
      end

      private

      def connect(url, headers)
        Pelton.map((1..@size).each_slice(@size / BATCH + 1), limit: BATCH) { |some| some.each { subscribe(url, headers) } }
        sleep # while others use them
      end

      def subscribe(url, headers)
        socket = HTTP::WebSocket.connect(url, protocols: [PROTOCOL], headers: headers, timeout: @timeout, deflate: false)
        socket.on_message { |text| take(socket, text) }
      end

      # Only a client that has been welcomed may subscribe: Action Cable loses one in thousands of the messages that come earlier.
      def take(socket, text)
        return socket.write(JSON.generate({command: "subscribe", identifier: @identifier})) if text == '{"type":"welcome"}'
        return if text.start_with?('{"type":') # a ping
        return @subscribed += 1 if text.end_with?('"type":"confirm_subscription"}')
        @received[text] += 1
      end

      def await(what)
        late = Clock.now + @timeout
        until yield
          @run.wrong("not all of #{@size} sockets have #{what} within #{@timeout} s") if Clock.now > late
          @thread.join(0.001) # raises its error
        end
      end
    end
  end
end
