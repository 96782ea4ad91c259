# frozen_string_literal: true

module Pelton
  module Record
    # One at a time for each thing: a fiber that wants what another fiber does already waits for that one.
    module Turns
      Turn = Struct.new(:fiber, :thread, :over)
      TURNS = {}.compare_by_identity # object => name => Turn
      private_constant :Turn, :TURNS

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
          while (turn = TURNS[object]&.[](name))
            return yield if turn.fiber.equal?(Fiber.current) || !turn.thread.equal?(Thread.current)
            (turn.over ||= Operation.new).await
          end
          turns = (TURNS[object] ||= {})
          turn = turns[name] = Turn.new(Fiber.current, Thread.current)
          begin
            yield
          ensure
            turns.delete(name)
            TURNS.delete(object) if turns.empty?
            turn.over&.succeed
          end
        end
      end
    end
  end
end
