# frozen_string_literal: true

module Pelton
  # Reports a loop that is kept from turning: by a computation, by a call in C, or by something that waits without the
  # fiber scheduler, such as IO.select before Ruby 3.2 or Enumerator#next.
  #
  # The report is written while the loop is still blocked, by a native thread that does not need Ruby. It samples: a
  # reactor pays almost nothing, and none of it wakes an idle process. It signals the blocked thread with SIGURG, once for
  # each stall. Waiting for the GVL while other threads of Ruby compute counts as being blocked, too.
  #
  # PELTON_WATCHDOG sets the threshold from outside: seconds, or "off".
  module Watchdog
    # Seconds.
    DEFAULT = 0.1

    # One stall that is over.
    class Stall
      # @return [Float] seconds that the loop could not turn
      attr_reader :seconds

      # @return [Array<String>] where it stood when it was noticed; the innermost line first
      attr_reader :backtrace

      def initialize(seconds, backtrace)
        @seconds = seconds
        @backtrace = backtrace
        freeze
      end

      def to_s = format("the loop was blocked for %.3g s in\n    %s", seconds, backtrace.join("\n    "))
    end

    class << self
      # @return [Numeric, nil] seconds that the loop may be blocked before it is told; nil: as long as it likes
      # @raise [ArgumentError] when it is set to 0 or less
      attr_reader :threshold

      def threshold=(seconds)
        raise ArgumentError, "the watchdog's threshold is more than 0 seconds, or nil" if seconds && !(seconds > 0)
        _set(seconds, @descriptor)
        @threshold = seconds
      end

      # @private
      def report_to(logger)
        @descriptor = if logger.is_a?(IO) then logger.fileno
        elsif logger.respond_to?(:error) then 2
        end
        @told = logger.is_a?(IO)
        _set(@threshold, @descriptor)
      end

      # @private
      def report(stall)
        Pelton.logger.warn(@told ? format("the loop goes on after %.3g s", stall.seconds) : stall.to_s)
      end

      private

      def from_environment(text)
        return DEFAULT if text.nil? || text.empty?
        return nil if text == "off"
        seconds = Float(text, exception: false)
        raise Error, "PELTON_WATCHDOG=#{text}: use seconds, or off" unless seconds&.positive?
        seconds
      end
    end

    @descriptor = 2
    @told = true # the logger's readers know where the loop stood
    self.threshold = from_environment(ENV["PELTON_WATCHDOG"])
  end

  class << self
    # @return [Numeric, nil] seconds that the loop may be blocked before it is reported; nil: never reported
    def watchdog = Watchdog.threshold

    # @param seconds [Numeric, nil]
    # @raise [ArgumentError] unless it is positive
    def watchdog=(seconds)
      Watchdog.threshold = seconds
    end

    # Sets what is called with each stall once it is over. The default logs it. The report that is written while it lasts
    # is not affected: see {logger=}.
    #
    # @yieldparam stall [Watchdog::Stall]
    # @return [Proc, nil] the block that was set before
    def on_stall(&block)
      @on_stall.tap { @on_stall = block }
    end

    # @private
    def report_stall(seconds, text)
      stall = Watchdog::Stall.new(seconds, text.scrub.lines(chomp: true))
      @on_stall ? @on_stall.call(stall) : Watchdog.report(stall)
    end
  end
end
