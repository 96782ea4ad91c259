# frozen_string_literal: true

module Pelton
  module Sequel
    class Pool < ::Sequel::ConnectionPool
      # Warns about fibers that hold a connection without using it. A task checks periodically while connections are
      # held, so queries pay nothing.
      # @private
      class Leaks
        include Opaque

        LOOKS = 4 # checks within the time after which a connection counts as leaked

        # @param pool [Pool]
        # @param name [String] the database's name
        # @param after [Float] seconds that a connection may be held between queries
        def initialize(pool, name, after)
          @pool = pool
          @name = name
          @after = after
          @task = nil
        end

        # Called when a connection is taken.
        def watch
          return if @task || !Pelton.running?
          @task = Pelton.spawn(name: "watch the connections to #{@name}", transient: true) { look_until_all_are_back }
        end

        # The child of a fork does not have the parent's tasks.
        def forget = @task = nil

        private

        def look_until_all_are_back
          sleep(@after / LOOKS)
          until (slots = held_slots).empty? # `loop` would rescue the logger's StopIteration
            slots.each { |slot| report(slot) }
            sleep(@after / LOOKS)
          end
        ensure
          @task = nil
        end

        def held_slots = @pool.shards.each_value.flat_map(&:held_slots)

        # Reports a holder once. A long query is no leak.
        def report(slot)
          now = Clock.now
          return if slot.busy || slot.reported == slot.since || now - slot.since < @after || !slot.fiber
          slot.reported = slot.since
          Pelton.logger.warn("#{@name}: a connection is held for longer than #{@after} s, outside a query: by " \
            "#{slot.inspect_holder(now)}. Wait for other things outside the blocks of `transaction` and `synchronize`")
        end
      end
    end
  end
end
