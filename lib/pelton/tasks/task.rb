# frozen_string_literal: true

module Pelton
  # An {Operation} whose value is the value of a block. The block runs on a fiber of its own, so it may wait. Made by
  # {Pelton.spawn}.
  class Task < Operation
    # @!method self.spawn
    #   As {Pelton.spawn} without options.
    #   @return [Task]
    #   @raise [NotRunningError] outside {Pelton.run}

    # @!method self.current
    #   @return [Task, nil] the task that runs on this fiber; nil in a callback

    # @!method cancel
    #   Ends the task: {Cancelled} is raised where it waits, so its `ensure` blocks run. A task that has not begun never
    #   begins. A task that cancels itself gets the exception at once. Whoever awaits the task gets {Cancelled}, too.
    #   @return [Boolean] false when the task was done already
    #   @raise [Cancelled] from the task itself

    # @!method transient?
    #   @return [Boolean] whether it keeps neither {Pelton.run} nor its {Group} going

    # @return [String, nil] the name that it was spawned with
    def name = defined?(@name) ? @name : nil

    # @return [Float, nil] seconds since it was spawned; nil: it has no name
    def age = defined?(@spawned) ? Clock.now - @spawned : nil

    # @private
    def _name=(name)
      @name = name.to_s
      @spawned = Clock.now
    end

    # @return [String, nil] "FILE:LINE" of the task's block; nil when the task is done
    def origin = _block&.source_location&.join(":")

    # Where the task waits, the innermost line first. Pelton's own lines and those of the fiber scheduler's hooks are
    # left out.
    #
    # @return [Array<String>, nil] nil when the task does not wait
    def backtrace = Task.place_of(waiting_fiber)

    # @return [Symbol] :queued before the task begins, :waiting, :running, :succeeded or :failed
    def activity
      return state if done?
      return :queued unless _started?
      waiting_fiber ? :waiting : :running
    end

    # @return [String] the class, the name, the activity, and the places where the task was spawned and where it waits
    def inspect
      words = [name&.inspect, activity, origin&.then { |line| "from #{line}" },
        backtrace&.first&.then { |line| "at #{line}" }]
      "#<#{self.class}#{words.compact.map { |word| " #{word}" }.join}>"
    end
    alias_method :to_s, :inspect

    LIBRARY = File.expand_path("..", __dir__)
    HOOK =
      /in\ [`'](?:[\w:]+\#)?
        (?:kernel_sleep|block|io_(?:wait|read|write|select)|process_wait|address_resolve|timeout_after)'\z/x
    INTERNAL = /\A<internal:[^>]*>:\d+/ # the place of a method of Ruby's that is written in Ruby: Queue#pop from 3.3 on
    private_constant :LIBRARY, :HOOK, :INTERNAL

    class << self
      # @private
      # @param fiber [Fiber, nil]
      def place_of(fiber)
        lines = fiber&.backtrace&.reject { |line| line.start_with?(LIBRARY) || line.match?(HOOK) }
        lines && at_callers(lines)
      end

      private

      # Methods that are written in Ruby get the places of their callers, as those in C have them.
      def at_callers(lines)
        place = nil
        lines.reverse.map do |line|
          next line.sub(INTERNAL) { |internal| place || internal } if line.match?(INTERNAL)
          place = line[/\A.*?:\d+/]
          line
        end.reverse
      end
    end
  end
end
