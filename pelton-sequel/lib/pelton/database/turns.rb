# frozen_string_literal: true

require "pelton"

module Pelton
  module Database
    # One at a time for each thing: a fiber that wants what another fiber does already waits for that one.
    module Turns
      Turn = Struct.new(:fiber, :thread, :over)
      TURNS = {}.compare_by_identity # object => name => Turn
      MUTEX = Mutex.new # a trap handler may wait in the middle, and other fibers come meanwhile
      private_constant :Turn, :TURNS, :MUTEX

      class << self
        # @param object [Object]
        # @return [Boolean] whether no fiber is in a block for the object
        def free?(object) = TURNS.empty? || !TURNS.key?(object)

        # Calls the block when no other fiber is in a block for the same object and name.
        #
        # @param object [Object]
        # @param name [Symbol]
        # @return the block's value
        # @asynchronous
        def take(object, name)
          return yield unless Reactor.running?
          mine = Turn.new(Fiber.current, Thread.current, Operation.new)
          until (turn = claim(object, name, mine)).equal?(mine)
            return yield if turn.fiber.equal?(Fiber.current) || !turn.thread.equal?(Thread.current)
            turn.over.await
          end
          begin
            yield
          ensure
            release(object, name)
            mine.over.succeed
          end
        end

        private

        # The turn that is taken now: mine, if there was no other.
        def claim(object, name, mine)
          MUTEX.synchronize { (TURNS[object] ||= {})[name] ||= mine }
        end

        def release(object, name)
          MUTEX.synchronize do
            turns = TURNS[object]
            turns.delete(name)
            TURNS.delete(object) if turns.empty?
          end
        end
      end
    end
  end
end
