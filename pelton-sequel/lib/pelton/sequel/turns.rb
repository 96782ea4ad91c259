# frozen_string_literal: true

require "pelton"

module Pelton
  module Sequel
    # Lets one fiber at a time do something to an object; others that want the same wait for it.
    module Turns
      Turn = Struct.new(:fiber, :thread, :over)
      TURNS = {} # [object's id, name] => Turn
      MUTEX = Mutex.new # a trap handler may wait while it holds this, and other fibers come meanwhile
      private_constant :Turn, :TURNS, :MUTEX

      class << self
        # @param object [Object]
        # @param name [Symbol]
        # @return [Boolean] whether no fiber is in a block for this object and name
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
          ensure # also for a turn that was taken but not begun
            mine.over.succeed
            TURNS.delete(key) if TURNS[key].equal?(mine)
          end
        end

        private

        # Returns the current turn: `mine` if there was none.
        def claim(key, mine)
          MUTEX.synchronize { TURNS[key]&.then { |other| other unless other.over.done? } || TURNS[key] = mine }
        end
      end
    end
  end
end
