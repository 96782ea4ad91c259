# frozen_string_literal: true

require_relative "slot"

module Pelton
  module Sequel
    class Pool < ::Sequel::ConnectionPool
      # The connections to one server: idle ones, held ones, and the fibers that wait. A connection that comes free goes
      # directly to the fiber that has waited longest, so no other can overtake it.
      # @private
      class Shard
        include Opaque

        CHECK_AFTER = 1 # seconds after which an idle connection is checked before it is used

        # @return [Symbol] the server's name
        attr_reader :name

        # @return [Hash{Fiber => Slot}]
        attr_reader :held

        # @return [Integer] the maximum, and the number of connections that are open or being opened
        attr_reader :max, :size

        # @return [Integer] how often a fiber asked for a connection, had to wait, and timed out
        attr_reader :taken, :waits, :timeouts

        # @return [Integer] connections that were opened
        attr_reader :created

        # @return [Float] seconds spent waiting for connections, holding them, and opening them
        attr_reader :wait_time, :use_time, :create_time

        # @param pool [Pool] opens and closes the connections
        # @param name [Symbol]
        # @param max [Integer] maximum number of connections
        # @param timeout [Float] seconds to wait for one
        # @param max_idle [Float] seconds after which an idle connection is closed
        def initialize(pool, name, max, timeout, max_idle)
          @pool = pool
          @name = name
          @max = max
          @timeout = timeout
          @max_idle = max_idle
          @mutex = Mutex.new
          forget
        end

        # Forgets all connections without closing them: after a fork they are the parent's sessions.
        #
        # @return [Array<Object>] the forgotten connections
        def forget
          connections = [*@idle, *@held&.values].map(&:connection)
          @idle = [] # a stack: the most recently used is taken first
          @waiting = {}.compare_by_identity # Operation => Fiber, in order of arrival
          @held = {}.compare_by_identity
          @size = @taken = @waits = @timeouts = @failed_waits = @created = 0
          @wait_time = @use_time = @create_time = 0.0
          connections.compact
        end

        # @return [Integer] idle connections
        def idle = @idle.size

        # @return [Integer] fibers that wait for a connection
        def waiting = @waiting.size

        # @return [Integer] held connections
        def in_use = @held.size

        # @return [Integer] how often a connection was held and given back
        def uses = [taken - waiting - in_use - @failed_waits, 0].max

        # Takes a connection for a fiber.
        #
        # @return [Slot]
        # @raise [PoolTimeoutError] if none comes free in time
        # @asynchronous
        def take(fiber)
          now = Clock.now
          slot = waiter = idle_since = nil
          @mutex.synchronize do
            @taken += 1
            if (slot = @idle.pop)
              idle_since = slot.since
            elsif @size < @max || reclaim
              @size += 1
              slot = Slot.new(self)
            else
              @waiting[waiter = Operation.new] = fiber
            end
            hold(slot, fiber, now) if slot
          end
          return prepare(wait(waiter, now)) if waiter
          (idle_since && now - idle_since < CHECK_AFTER) ? slot : prepare(slot, idle_since)
        end

        # Takes a certain idle connection for a fiber that holds no other.
        #
        # @raise [SharedConnectionError] if it is no longer idle, or the fiber holds another
        def borrow(slot, fiber)
          @mutex.synchronize do
            if @held.key?(fiber) || !@idle.delete(slot)
              raise SharedConnectionError, "the fiber holds another connection, or this one is not idle"
            end
            @taken += 1
            hold(slot, fiber, Clock.now)
          end
        end

        # Gives a connection back, or to the fiber that has waited longest.
        def give(slot)
          now = Clock.now
          unwanted = (slot.spoiled || slot.connection.nil?) ? slot : nil
          @mutex.synchronize do
            @use_time += now - slot.since
            @held.delete(slot.fiber)
            slot.fiber = nil
            slot.since = now
            if unwanted || @size > @max
              unwanted = slot
            elsif @waiting.empty?
              @idle.push(slot)
              unwanted = @idle.shift if now - @idle.first.since > @max_idle
            else
              hand_over(slot)
            end
          end
          drop(unwanted) if unwanted
        end

        # Closes idle connections now, and those in use when they are given back.
        def disconnect
          slots = @mutex.synchronize do
            @held.each_value { |slot| slot.spoiled = true }
            @idle.slice!(0..)
          end
          slots.each { |slot| drop(slot) }
        end

        # Closes the idle connections that are older than a lost one: the server has probably lost them all.
        def distrust(slot)
          lost = @mutex.synchronize do
            lost, @idle = @idle.partition { |one| one.opened <= Clock.now }
            lost
          end
          lost.each { |one| drop(one) unless one.equal?(slot) }
        end

        # Frees the place of a closed connection.
        def vacate
          @mutex.synchronize do
            @size -= 1
            next if @waiting.empty? || @size >= @max
            @size += 1
            hand_over(Slot.new(self))
          end
        end

        # @return [Array<Slot>] held slots, the longest held first
        def held_slots = @mutex.synchronize { @held.values }.sort_by(&:since)

        # @return [Array<String>] a description of each holder, the longest first
        def holders
          now = Clock.now
          held_slots.map { |slot| slot.inspect_holder(now) }
        end

        # @return [Hash{Symbol => Numeric}]
        def stats
          {size: size, max: max, in_use: in_use, idle: idle, waiting: waiting, wait_time: wait_time,
           use_time: use_time, timeouts: timeouts}
        end

        private

        # Gives a slot to the first waiting fiber, which opens the connection if the slot has none. The mutex must be
        # held.
        def hand_over(slot)
          waiter, fiber = @waiting.shift
          hold(slot, fiber, Clock.now)
          waiter.succeed(slot)
        end

        # The mutex must be held: other threads read the holders.
        def hold(slot, fiber, now)
          slot.fiber = fiber
          slot.since = now
          @held[fiber] = slot
        end

        def wait(waiter, since)
          slot = waiter.await(timeout: @timeout)
        rescue Pelton::TimeoutError
          raise if Clock.now < since + @timeout # a limit around the call has passed, not this one
          @timeouts += 1
          raise PoolTimeoutError, message(since)
        ensure # a wait that ends early must not keep a connection
          @waits += 1
          @wait_time += Clock.now - since
          unless slot
            @failed_waits += 1
            give(waiter.result) unless @mutex.synchronize { @waiting.delete(waiter) }
          end
        end

        # Opens a slot's connection, or checks one that was idle for long.
        def prepare(slot, idle_since = nil)
          if slot.connection && idle_since && !@pool.usable?(slot.connection)
            connection, slot.connection = slot.connection, nil
            @pool.close(connection)
          end
          slot.connection || open_connection(slot)
          ready = true
          slot
        ensure
          give(slot) unless ready
        end

        def open_connection(slot)
          start = Clock.now
          @pool.open(slot, @name)
          @created += 1
          @create_time += Clock.now - start
        end

        def drop(slot)
          return vacate unless slot.connection
          @pool.discard(slot) { vacate }
        end

        # Takes back the connections of fibers that have ended. The mutex must be held.
        #
        # @return [Boolean] whether a place is free now
        def reclaim
          dead = @held.values.reject { |slot| slot.fiber.alive? }
          dead.each do |slot|
            @held.delete(slot.fiber)
            @size -= 1
            @pool.lost(slot)
          end
          dead.any?
        end

        def message(since)
          held = holders
          text = "no connection came free within #{@timeout} s: #{in_use} of #{@max} are in use, #{waiting} wait"
          return text if held.empty?
          "#{text}. Held by #{held.first(10).join("; by ")}#{" and #{held.size - 10} more" if held.size > 10}"
        end
      end
    end
  end
end
