# frozen_string_literal: true

require "securerandom"

module Pelton
  module Cable
    # Who is present on streams, in all processes that have the topics of a {PubSub} in common. Each process announces
    # its own members, and that it is alive; the members of one that was not heard of for some seconds leave. Somebody
    # with several sockets is present once.
    # @private
    class Presence
      # Bytes of an id, and of an information's JSON.
      LONGEST_ID = 255
      LONGEST_INFO = 4096
      # Members of a stream: each of them is told of each.
      MOST = 1000
      # Seconds between two signs of life of a process.
      ALIVE = 2
      # And between two reports that they cannot be sent.
      REPORT_EVERY = 60
      TOPIC = "pelton-presence"
      private_constant :LONGEST_ID, :LONGEST_INFO, :MOST, :ALIVE, :REPORT_EVERY, :TOPIC

      # A stream: its members here and in other processes, and those who are told of changes.
      class Members
        # @return [Hash{String => Hash{String => Object}}] by process, its members' information by id
        attr_reader :processes

        # @return [Hash{Proc => true}]
        attr_reader :watchers

        # @return [Subscription] of the stream's topic
        attr_accessor :subscription

        def initialize
          @processes = Hash.new { |hash, process| hash[process] = {} }
          @counts = Hash.new(0) # processes in which somebody is
          @watchers = {}.compare_by_identity
        end

        def size = @counts.size

        def include?(id) = @counts.key?(id)

        def to_h = @processes.values.reverse.reduce({}, :merge)

        def add(process, id, info)
          return if @processes[process].key?(id)
          @processes[process][id] = info
          tell({"type" => "join", "id" => id, "info" => info}) if (@counts[id] += 1) == 1
        end

        def delete(process, id)
          return unless @processes.key?(process) && @processes[process].key?(id)
          @processes[process].delete(id)
          @processes.delete(process) if @processes[process].empty?
          return if (@counts[id] -= 1).positive?
          @counts.delete(id)
          tell({"type" => "leave", "id" => id})
        end

        # Makes these the only members of a process.
        def replace(process, members)
          (@processes.key?(process) ? @processes[process].keys - members.keys : []).each { |id| delete(process, id) }
          members.each { |id, info| add(process, id, info) }
        end

        private

        def tell(event) = @watchers.keys.each { |watcher| watcher.call(event) }
      end
      private_constant :Members

      # @param alive [Numeric] seconds between two signs of life of a process
      # @param gone [Numeric] seconds without any, after which it has gone
      def initialize(pubsub, alive: ALIVE, gone: 3.5 * alive)
        @pubsub = pubsub
        @alive = alive
        @gone = gone
        @process = SecureRandom.alphanumeric(12)
        @streams = {}
        @sockets = Hash.new(0) # by stream and id, of this process
        @heard = {} # by process, when
      end

      # @return [Integer] streams
      def size = @streams.size

      # @return [Hash{String => Object}] information by id
      def members(stream) = @streams[stream]&.to_h || {}

      # Tells of changes, and makes somebody present.
      #
      # @param id [#to_s, nil] nil: nobody
      # @param info [Object] that JSON can express
      # @yieldparam event [Hash{String => Object}] "type" is "join" or "leave", "id", and "info" of a join
      # @return [Proc] ends it
      # @raise [Refused] one of them is too long, or the stream has too many members
      def track(stream, id, info, &watcher)
        id = checked(id, info) if id
        members = @streams[stream] || start(stream)
        if id && !members.include?(id) && members.size >= MOST
          stop(stream, members) if members.watchers.empty?
          raise Refused, "#{stream.inspect[0, 100]} has #{MOST} members: that is the most"
        end
        members.watchers[watcher] = true
        join(stream, members, id, info) if id
        -> { untrack(stream, members, id, watcher) }
      end

      private

      def checked(id, info)
        id = id.to_s
        raise Refused, "an id of #{id.bytesize} bytes: #{LONGEST_ID} are the most" if id.bytesize > LONGEST_ID
        bytes = JSON.generate(info).bytesize
        raise Refused, "information of #{bytes} bytes: #{LONGEST_INFO} are the most" if bytes > LONGEST_INFO
        id
      end

      def start(stream)
        @life ||= @pubsub.attach(TOPIC) { |json, _| heard(JSON.parse(json).fetch("process")) }
        @timer ||= Pelton.add_periodic_timer(@alive) { live }
        members = @streams[stream] = Members.new
        ask = -> { publish(stream, type: "ask") }
        members.subscription = @pubsub.attach("#{TOPIC}/#{stream}",
          gap: ask) { |json, _| receive(stream, members, JSON.parse(json)) }
        publish(stream, type: "ask")
        members
      end

      def stop(stream, members)
        members.subscription.close
        @streams.delete(stream)
        return if @streams.any?
        @life.close
        @timer.cancel
        @life = @timer = nil
        @heard.clear
      end

      def join(stream, members, id, info)
        return unless (@sockets[[stream, id]] += 1) == 1
        members.add(@process, id, info)
        publish(stream, type: "join", id: id, info: info)
      end

      def untrack(stream, members, id, watcher)
        return unless members.watchers.delete(watcher)
        if id && (@sockets[[stream, id]] -= 1).zero?
          @sockets.delete([stream, id])
          members.delete(@process, id)
          publish(stream, type: "leave", id: id)
        end
        stop(stream, members) if members.watchers.empty?
      end

      # A carrier that is down is reported once in a while: each sign of life would.
      def report(error)
        return if @reported && Clock.now - @reported < REPORT_EVERY
        @reported = Clock.now
        Pelton.report_error(error, "presence")
      end

      # A message of a carrier that is down is lost: the signs of life make up for it.
      def publish(stream, **message)
        @pubsub.publish("#{TOPIC}/#{stream}", JSON.generate(process: @process, **message))
      rescue OverloadError => error
        report(error)
      end

      def receive(stream, members, message)
        process = message.fetch("process")
        return if process == @process
        @heard[process] = Clock.now
        case message["type"]
        when "join" then members.add(process, message["id"], message["info"])
        when "leave" then members.delete(process, message["id"])
        when "are" then members.replace(process, message["members"])
        when "ask"
          publish(stream, type: "are", members: members.processes.fetch(@process)) if members.processes.key?(@process)
        end
      end

      # One that was not known, or was given up, is asked who is present there.
      def heard(process)
        return if process == @process
        known = @heard.key?(process)
        @heard[process] = Clock.now
        @streams.each_key { |stream| publish(stream, type: "ask") } unless known
      end

      def live
        @pubsub.publish(TOPIC, JSON.generate(process: @process))
        limit = Clock.now - @gone
        gone = @heard.select { |_, time| time < limit }.keys
        gone.each do |process|
          @heard.delete(process)
          @streams.each_value { |members| members.replace(process, {}) }
        end
      rescue OverloadError => error
        report(error)
      end
    end
  end
end
