# frozen_string_literal: true

require "pelton"

module Pelton
  module Database
    # One at a time for each thing: a fiber that wants what another fiber does already waits for that one.
    module Turns
      Turn = Struct.new(:fiber, :thread, :over)
      TURNS = {} # [object's id, name] => Turn
      MUTEX = Mutex.new # a trap handler may wait in the middle, and other fibers come meanwhile
      private_constant :Turn, :TURNS, :MUTEX

      class << self
        # @param object [Object]
        # @param name [Symbol]
        # @return [Boolean] whether no fiber is in a block for both
        def free?(object, name) = TURNS.empty? || !TURNS.key?([object.__id__, name])

        # Calls the block when no other fiber is in a block for the same object and name.
        #
        # @param object [Object]
        # @param name [Symbol]
        # @return the block's value
        # @asynchronous
        def take(object, name)
          return yield unless Reactor.running?
          key = [object.__id__, name]
          mine = Turn.new(Fiber.current, Thread.current, Operation.new)
          begin
            until (turn = claim(key, mine)).equal?(mine)
              return yield if turn.fiber.equal?(Fiber.current) || !turn.thread.equal?(Thread.current)
              turn.over.await
            end
            yield
          ensure # also of a turn that was taken, but not begun
            mine.over.succeed
            TURNS.delete(key) if TURNS[key].equal?(mine)
          end
        end

        private

        # The turn that is taken now: mine, if there was no other.
        def claim(key, mine)
          MUTEX.synchronize { TURNS[key]&.then { |other| other unless other.over.done? } || TURNS[key] = mine }
        end
      end
    end
  end
end
