# frozen_string_literal: true

module Pelton
  # Calls a block once, or again and again. Made by {Pelton.add_timer} and {Pelton.add_periodic_timer}.
  class Timer
    # @!method cancel
    #   @return [Boolean] false when it was not active: it has fired, or was cancelled

    # @!method restart(seconds)
    #   Begins anew, from now on. A periodic timer has this interval from then on.
    #   @param seconds [Numeric]
    #   @return [self]
    #   @raise [NotRunningError] when its reactor does not run any more

    # @!method active?
    #   @return [Boolean] whether it will still fire
  end
end
