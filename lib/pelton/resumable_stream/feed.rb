# frozen_string_literal: true

require "json"

module Pelton
  class ResumableStream
    # A text as this reactor knows it: one copy for all of its readers, each of which is a place in it. So a slow reader
    # needs no memory; it gets more at once. The feed lives as long as it has readers.
    #
    # What comes by the topic says where it belongs. What is missing is read from the store, when the writer has stored
    # it. A feed that hears nothing looks into the store, at first after a second and then less and less often: its
    # writer may have died, or the topics of the writer's process may not be ours.
    # @private
    class Feed
      # Seconds of silence between two looks into the store.
      LOOK = 1
      MOST_LOOK = 15
      # Bytes that a reader gets at once.
      PIECE = 64 << 10
      private_constant :LOOK, :MOST_LOOK, :PIECE

      @present = {}
      @lock = Mutex.new

      class << self
        # Yields the feed of a stream on this reactor.
        def of(stream)
          key = [Reactor.current.object_id, stream._pubsub.object_id, stream.name]
          feed = @lock.synchronize { (@present[key] ||= new(stream)).tap(&:retain) }
          yield feed
        ensure
          @lock.synchronize { @present.delete(key) } if feed&.release
        end

        # @return [Integer] feeds of this process
        def size = @present.size
      end

      def initialize(stream)
        @stream = stream
        @text = +""
        @run = 0
        @state = nil # not known yet
        @held = [] # pieces that came after one that is missing
        @waiting = {}.compare_by_identity
        @readers = 0
      end

      def retain
        @readers += 1
        @task ||= Pelton.spawn(name: "feed of the stream #{@stream.name}", transient: true, detached: true) { run }
      end

      # @return [Boolean] whether that was the last reader
      def release
        return false unless (@readers -= 1).zero?
        @task.cancel
        true
      end

      def follow(position, every)
        run, offset = Snapshot._parse(position)
        told = nil
        loop do
          unless @state
            raise @error if @error
            return if @gone
            next wait(nil) # for the first look
          end
          if run != @run
            yield Event.new(:begin, Snapshot._position(@run, 0)) unless run.zero?
            run, offset, told = @run, 0, nil
          elsif offset < @text.bytesize
            text, offset = from(offset)
            yield Event.new(:append, Snapshot._position(run, offset), text: text) unless text.empty?
          elsif told != @state
            told = @state
            yield Event.new(told.to_sym, Snapshot._position(run, offset), error: @failure) unless told == "waiting"
            return if FINAL.include?(told)
          else
            wait(every) or yield nil
          end
        end
      end

      private

      # @return [Array(String, Integer)] what comes next, and the offset after it
      def from(offset)
        first = character(offset) # a position within a character was never given out
        last = character(first + PIECE)
        [@text.byteslice(first...last), last]
      end

      # @return [Integer] where a character begins, or the text ends
      def character(offset)
        offset += 1 while offset < @text.bytesize && @text.getbyte(offset) & 0xC0 == 0x80
        [offset, @text.bytesize].min
      end

      # @return [Boolean] whether something has changed
      def wait(timeout)
        operation = Operation.new
        @waiting[operation] = true
        operation.await(timeout: timeout)
        true
      rescue TimeoutError
        false
      ensure
        @waiting.delete(operation)
      end

      def wake
        waiting, @waiting = @waiting, {}.compare_by_identity
        waiting.each_key(&:succeed)
      end

      def run
        loop do
          subscription = @stream._pubsub.subscribe(@stream._topic)
          look
          receive(subscription)
        rescue OverloadError
          nil # reading the store took long: subscribe anew, and read it again
        ensure
          subscription&.close
        end
      rescue => error # the readers get it, and may come back
        @error = error
        @state = nil
        wake
      end

      def receive(subscription)
        pause = LOOK
        loop do
          message = subscription.receive(timeout: pause)
          take(JSON.parse(message, symbolize_names: true))
          ask_again if @asked
          pause = LOOK
        rescue TimeoutError
          pause = look ? LOOK : [pause * 2, MOST_LOOK].min
          ask if @asked
        end
      end

      def take(message)
        run = message[:run]
        return if run < @run
        return begin_run(run) if message[:state] == "running"
        look if run > @run # its beginning was lost
        if message[:text] then append(message[:at], message[:text])
        elsif message[:stored] then fill(message[:stored])
        else change(message)
        end
      end

      def begin_run(run)
        return if run == @run && @state == "running"
        @run, @state, @text, @failure, @asked = run, "running", +"", nil, nil
        @held.clear
        wake
      end

      def append(at, text)
        return hold(at, text) if at > @text.bytesize
        return unless add(at, text)
        @state = "running" unless FINAL.include?(@state) # it was late, and counted as interrupted
        wake
      end

      # @return [Boolean] whether something of it is new
      def add(at, text)
        known = @text.bytesize - at
        return false if known >= text.bytesize
        @text << text.byteslice(known..)
        true
      end

      def hold(at, text)
        @held << [at, text]
        ask
      end

      def fill(size)
        look if size > @text.bytesize
        @asked = nil
      end

      def change(message)
        return look unless message[:at] == @text.bytesize
        @state, @failure, @asked = message[:state], message[:error], nil
        wake
      end

      # Asks the writer to store what it has. It says so on the topic, after all that it has stored.
      def ask
        return if @asked && Clock.now - @asked < LOOK
        @asked = Clock.now
        @stream._order(store: @run)
      end

      def ask_again
        return if Clock.now - @asked < LOOK
        look
        ask if @held.any?
      end

      # Reads the store. What has come by the topic may be newer.
      #
      # @return [Boolean] whether it has news
      def look
        snapshot = @stream.snapshot or return gone
        return false if snapshot.run < @run
        before = [@run, @text.bytesize, @state]
        @held.clear unless snapshot.run == @run
        @text = snapshot.text.dup if snapshot.run != @run || snapshot.size > @text.bytesize
        @run, @state, @failure = snapshot.run, snapshot.state, snapshot.error
        release_held
        (before != [@run, @text.bytesize, @state]).tap { |news| wake if news }
      end

      def release_held
        add(*@held.shift) while @held.any? && @held.first.first <= @text.bytesize
        @asked = nil if @held.empty?
      end

      def gone
        @state = nil
        @gone = true
        wake
        false
      end
    end
  end
end
