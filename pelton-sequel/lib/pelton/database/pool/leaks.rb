# frozen_string_literal: true

module Pelton
  module Database
    class Pool < Sequel::ConnectionPool
      # Says who keeps a connection for long without using it. A task looks from time to time while connections are held, so a query
      # pays nothing for it.
      # @private
      class Leaks
        include Opaque

        LOOKS = 4 # in the time after which a connection counts as leaked

        # @param pool [Pool]
        # @param name [String] the database's
        # @param after [Float] seconds
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

        # The child of a fork has other tasks.
        def forget = @task = nil

        private

        def look_until_all_are_back
          sleep(@after / LOOKS)
          until (slots = held_slots).empty? # no `loop`, which would rescue a StopIteration of the logger
            slots.each { |slot| report(slot) }
            sleep(@after / LOOKS)
          end
        ensure
          @task = nil
        end

        def held_slots = @pool.shards.each_value.flat_map(&:held_slots)

        # Once each time it is held. A long query is no leak.
        def report(slot)
          now = Clock.now
          return if slot.busy || slot.reported == slot.since || now - slot.since < @after || !slot.fiber
          slot.reported = slot.since
          Pelton.logger.warn("#{@name}: a connection is held for longer than #{@after} s, outside a query: by #{slot.inspect_holder(now)}. " \
            "Wait for other things outside the blocks of `transaction` and `synchronize`")
        end
      end
    end
  end
end
