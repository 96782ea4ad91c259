# frozen_string_literal: true

module Pelton
  # Reports a blocked loop: blocked by a computation, by a call in C, or by a method that waits without the fiber
  # scheduler, such as IO.select before Ruby 3.2 or Enumerator#next.
  #
  # A native thread that does not need Ruby writes the report while the loop is still blocked. It samples, so it costs a
  # reactor almost nothing, and it never wakes an idle process. It signals the blocked thread with SIGURG, once for each
  # stall. A loop that waits for the GVL, because other Ruby threads compute, counts as blocked, too.
  #
  # At most ten stalls a minute are reported, and then how many were not.
  #
  # PELTON_WATCHDOG sets the threshold from outside: seconds, or "off".
  module Watchdog
    # Seconds.
    DEFAULT = 0.1

    # A stall that is over.
    class Stall
      # @return [Float] seconds for which the loop was blocked
      attr_reader :seconds

      # @return [Array<String>] where the blocked thread was when the watchdog noticed the stall; the innermost line
      #   first
      attr_reader :backtrace

      # @return [Task, nil] the task that blocked the loop; nil: a request, a timer or a callback did
      attr_reader :task

      def initialize(seconds, backtrace, task = nil)
        @seconds = seconds
        @backtrace = backtrace
        @task = task
        freeze
      end

      def to_s = "the loop was blocked for #{duration} in\n    #{backtrace.join("\n    ")}"

      # @return [String] the line that ends a report which was written while the stall lasted
      def conclusion = "the loop goes on after #{duration}"

      private

      def duration = format("%.3g s%s", seconds, task&.name&.then { |name| " (task #{name.to_s.inspect})" })
    end

    class << self
      # @!method resting?
      #   @return [Boolean] whether the watchdog sleeps until a reactor has something to do

      # @!method count
      #   @return [Integer] running reactors that it watches

      # @return [Numeric, nil] seconds for which the loop may be blocked before that is reported; nil: nothing is
      #   reported
      # @raise [ArgumentError] when it is set to 0 or less
      attr_reader :threshold

      def threshold=(seconds)
        raise ArgumentError, "the watchdog's threshold must be more than 0 seconds, or nil" if seconds && !(seconds > 0)
        @chosen = true
        @threshold = seconds
        apply
      end

      # Reports nothing while the block runs, unless the program or PELTON_WATCHDOG has set a threshold: for programs
      # that were not written for Pelton, and while a server loads what it needs.
      # @private
      def quietly
        @quiet += 1
        apply
        yield
      ensure
        @quiet -= 1
        apply
      end

      # @private
      def report_to(logger)
        @descriptor = if logger.is_a?(IO) then logger.fileno
        elsif logger.respond_to?(:error) then 2
        end
        @same_output = logger.is_a?(IO)
        apply
      end

      # @private
      def report(stall) = Pelton.logger.warn(@same_output ? stall.conclusion : stall.to_s)

      private

      def apply = _set((@threshold if @chosen || @quiet.zero?), @descriptor)

      def from_environment(text)
        return DEFAULT if text.nil? || text.empty?
        return nil if text == "off"
        seconds = Float(text, exception: false)
        raise Error, "PELTON_WATCHDOG=#{text}: use seconds, or off" unless seconds&.positive?
        seconds
      end
    end

    @quiet = 0 # calls of quietly that are under way
    @descriptor = 2
    @same_output = true # the logger writes where the report was written, so it need not repeat the backtrace
    self.threshold = from_environment(ENV["PELTON_WATCHDOG"])
    @chosen = !ENV["PELTON_WATCHDOG"].to_s.empty?
  end

  class << self
    # @return [Numeric, nil] seconds for which the loop may be blocked before that is reported; nil: nothing is reported
    def watchdog = Watchdog.threshold

    # @param seconds [Numeric, nil]
    # @raise [ArgumentError] for 0 or less
    def watchdog=(seconds)
      Watchdog.threshold = seconds
    end

    # Sets the block that is called with each stall once it is over. Without one, the stall is logged. It does not
    # change the report that is written while the stall lasts: see {logger=}.
    #
    # @yieldparam stall [Watchdog::Stall]
    # @return [Proc, nil] the block that was set before
    def on_stall(&block) = @on_stall.tap { @on_stall = block }

    # @param is_reported [Boolean] whether the watchdog has written a report of it
    # @private
    def report_stall(seconds, text, is_reported = true, task = nil)
      stall = Watchdog::Stall.new(seconds, text.scrub.lines(chomp: true), task)
      return @on_stall.call(stall) if @on_stall
      Watchdog.report(stall) if is_reported
    end
  end

  register_upcalls(report_stall: method(:report_stall))
end
