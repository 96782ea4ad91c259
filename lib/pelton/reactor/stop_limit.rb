# frozen_string_literal: true

module Pelton
  # How long a process may take to stop, whatever it does meanwhile: Ruby's own signal handlers do not run while a call
  # in C keeps Ruby's lock, and a loop that computes does not turn. A native thread counts the time, and then ends the
  # process with a line on standard error and status 1: no `ensure`, no `at_exit`.
  # @private
  module StopLimit
    class << self
      # The time begins when one of the signals comes, whose handlers must have been set before.
      #
      # @param seconds [Numeric]
      # @param names [Array<String>] signals
      # @return [Boolean] whether there is a limit: the system may have no thread left
      def after(seconds, names) = _set(seconds, Signal.list.values_at(*names))

      # The time begins now.
      #
      # @param seconds [Numeric]
      # @return [Boolean] as {after}
      def from_now(seconds) = _set(seconds, [])
    end
  end
  private_constant :StopLimit
end
