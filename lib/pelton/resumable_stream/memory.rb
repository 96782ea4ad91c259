# frozen_string_literal: true

module Pelton
  class ResumableStream
    # A store in this process, for tests and for texts that may be lost with it.
    class Memory
      def initialize
        @lock = Mutex.new
        @values = {run: 0, state: "waiting", text: "", error: nil, alive_at: nil}
      end

      def read = @lock.synchronize { @values.dup }

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
