# frozen_string_literal: true

module Pelton
  class ResumableStream
    # A store in this process, for tests and for texts that may be lost with it.
    class Memory
      def initialize
        @lock = Mutex.new
        @values = {run: 0, state: "waiting", text: "", error: nil, alive_at: nil}
      end

      # @return [Hash{Symbol => Object}] a copy of what is stored: run, state, text, error and alive_at
      def read = @lock.synchronize { @values.dup }

      # Stores the changes, unless another writer has begun a run or changed the state.
      #
      # @param changes [Hash{Symbol => Object}]
      # @param run [Integer] the run that the writer has seen
      # @param state [String] the state that the writer has seen
      # @return [Boolean] whether the changes are stored
      def write(changes, run:, state:)
        @lock.synchronize do
          same = @values[:run] == run && @values[:state] == state
          @values = @values.merge(changes) if same
          same
        end
      end
    end
  end
end
