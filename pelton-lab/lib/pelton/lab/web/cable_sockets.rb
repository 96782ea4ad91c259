# frozen_string_literal: true

require "json"
require "socket"
require "pelton/clock"
require_relative "../statistics"
require_relative "load"

module Pelton
  module Lab
    # Clients of Action Cable: sockets that subscribe to a channel and count what is broadcast there. They live in a
    # thread with a reactor of its own, which answers pings between the measurements as well.
    class CableSockets
      PROTOCOL = "actioncable-v1-json"
      # Handshakes at a time.
      BATCH = 50
      TIMEOUT = 30
      AT = /"at":([\d.]+)/
      # Sockets whose delays are measured, spread over all. Reading takes this process about as long as writing takes
      # the server, so a message would wait here for those before it.
      SAMPLE = 25
      # Bytes that the others leave with the kernel, which does not wake this process for them: waking it takes the
      # server time.
      UNREAD = 1 << 20
      private_constant :AT, :SAMPLE, :UNREAD

      # Opens the sockets, and waits until all have subscribed.
      # @param run [Run] gets the verdict
      # @param url [String] "ws://..."
      # @param channel [Hash] the channel's identifier
      # @param headers [Hash{String => String}, Array<Hash>] of the handshakes, or of each one
      # @param timeout [Numeric] seconds for all to subscribe, and for a broadcast to reach all
      def initialize(run, url, size, channel:, headers: {}, timeout: TIMEOUT)
        require "pelton/http"
        @run = run
        @size = size
        @timeout = timeout
        @identifier = JSON.generate(channel)
        @subscribed = 0
        @sockets = []
        @descriptors = []
        @received = Hash.new(0) # by the text
        # A socket is a descriptor.
        Process.setrlimit(:NOFILE, Process.getrlimit(:NOFILE).last)
        @thread = Thread.new { Pelton.run { connect(url, headers) } }
        @thread.report_on_exception = false
        await("subscribed") { @subscribed == size }
      end

      # Yields once, for so many broadcasts, which must all reach all sockets.
      # @return [WebLoad::Done] the delivered messages
      def saturate(broadcasts)
        @received.clear
        started = Clock.now
        yield
        await("received the messages") { @received.size == broadcasts && @received.values.all?(@size) }
        WebLoad::Done.new(@size * broadcasts, Clock.now - started)
      end

      # Yields so many times, at fixed times, for a broadcast each. A message says by `at` when it was sent, by the
      # system's monotonic clock. A sample of the sockets reads at once, the others afterwards.
      # @param interval [Numeric] seconds
      # @param beside [#call, nil] other work that another thread does meanwhile
      # @return [WebLoad::Done] the delivered messages, with percentiles of the time from the broadcast to a socket
      def pace(broadcasts, interval:, beside: nil)
        @received.clear
        @delays = []
        others = @descriptors.reject.with_index { |_, index| index % [@size / SAMPLE, 1].max == 0 }
        unread(others, UNREAD)
        started = Clock.now
        other = Thread.new(&beside) if beside
        broadcasts.times do |number|
          sleep(Clock.left(started + number * interval))
          yield
        end
        await("received the messages") { @received.size == broadcasts && @received.values.all?(@size - others.size) }
        other&.join
        delays, @delays = @delays, nil
        unread(others, 1)
        await("received the messages") { @received.values.all?(@size) }
        WebLoad::Done.new(@size * broadcasts, Clock.now - started,
          *[0.5, 0.99].map { |share| Statistics.percentile(delays, share) })
      ensure
        @delays = nil
      end

      # Subscribes each socket to so many channels, and unsubscribes it again, which does not count.
      # @yieldparam number [Integer]
      # @yieldreturn [Hash] a channel's identifier, another one for each number
      # @return [WebLoad::Done] the subscriptions
      def subscribe_to(channels)
        identifiers = Array.new(channels) { |number| JSON.generate(yield(number)) }
        wanted = @subscribed + @size * channels
        started = Clock.now
        command("subscribe", identifiers)
        await("subscribed") { @subscribed == wanted }
        done = WebLoad::Done.new(@size * channels, Clock.now - started)
        command("unsubscribe", identifiers)
        done
      end

      def close
        @thread.kill.join
      end

      private

      def connect(url, headers)
        Pelton.map((1..@size).each_slice(@size / BATCH + 1), concurrency: BATCH) do |some|
          some.each { |number| subscribe(url, headers.is_a?(Array) ? headers.fetch(number - 1) : headers) }
        end
        @reactor = Reactor.current
        sleep # while others use them
      end

      def subscribe(url, headers)
        socket = HTTP::WebSocket.connect(url, protocols: [PROTOCOL], headers: headers, timeout: @timeout,
          deflate: false)
        @sockets << socket
        @descriptors << Socket.for_fd(socket.fileno).tap { |descriptor| descriptor.autoclose = false }
        socket.on_message { |text| take(socket, text) }
      end

      # Sockets belong to their thread.
      def command(command, identifiers)
        texts = identifiers.map { |identifier| JSON.generate({command: command, identifier: identifier}) }
        @reactor.next_tick { Pelton.spawn { @sockets.each { |socket| texts.each { |text| socket.write(text) } } } }
      end

      # @param bytes [Integer] before which the kernel does not say that there is something to read
      def unread(descriptors, bytes)
        descriptors.each { |descriptor| descriptor.setsockopt(:SOCKET, :RCVLOWAT, bytes) }
      end

      # Only a client that has been welcomed may subscribe: Action Cable loses one in thousands of the messages that
      # come earlier.
      def take(socket, text)
        if text.start_with?('{"type":"welcome"')
          return socket.write(JSON.generate({command: "subscribe", identifier: @identifier}))
        end
        if text.start_with?('{"type":"confirm_subscription"') || text.end_with?('"type":"confirm_subscription"}')
          return @subscribed += 1
        end
        return if text.start_with?('{"type":') # a ping
        @received[text] += 1
        @delays << (Clock.now - text[AT, 1].to_f) * 1000 if @delays
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
