# frozen_string_literal: true

module Pelton
  module Record
    # One at a time for each thing: a fiber that wants what another fiber does already waits for that one.
    module Turns
      Turn = Struct.new(:mutex, :fibers)
      TURNS = {}.compare_by_identity
      private_constant :Turn, :TURNS

      # @param object [Object]
      # @return [Boolean] whether no fiber is in a block for the object
      def self.free?(object) = TURNS.empty? || !TURNS.key?(object)

      # Calls the block when no other fiber is in a block for the same object and name.
      #
      # @param object [Object]
      # @param name [Symbol]
      # @return the block's value
      # @asynchronous
      def self.take(object, name, &block)
        return yield unless Reactor.running?
        turns = (TURNS[object] ||= {})
        turn = (turns[name] ||= Turn.new(Mutex.new, 0))
        return yield if turn.mutex.owned? # the block has come back here
        turn.fibers += 1
        begin
          turn.mutex.synchronize(&block)
        ensure
          turns.delete(name) if (turn.fibers -= 1).zero?
          TURNS.delete(object) if turns.empty?
        end
      end
    end
  end
end
