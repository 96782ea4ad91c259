# frozen_string_literal: true

module EventMachine
  # A Deferrable with states of any names. A final state completes it: then the blocks for that state are called, and
  # blocks that are added later are called at once.
  class Completion
    include Deferrable

    attr_reader :state, :value

    def initialize
      @state = :unknown
      @callbacks = Hash.new { |callbacks, state| callbacks[state] = [] }
      @value = []
      @timeout_timer = nil
    end

    # @return [Array<Symbol>] the final states
    def completion_states = [:succeeded, :failed]

    # Enters a state. See {#change_state}.
    #
    # @param state [Symbol]
    def set_deferred_status(state, *arguments) = change_state(state, *arguments)

    # Enters the state `:succeeded`, with the arguments as its value.
    def succeed(*arguments) = change_state(:succeeded, *arguments)
    alias_method :set_deferred_success, :succeed

    # Enters the state `:failed`, with the arguments as its value.
    def fail(*arguments) = change_state(:failed, *arguments)
    alias_method :set_deferred_failure, :fail

    # Calls the block with the value each time that the state is entered; at once when it is the present state.
    def stateback(state, *arguments, &block)
      callable = EventMachine::Callback(*arguments, &block)
      @callbacks[state] << callable unless completed?
      EventMachine.schedule { callable.call(*@value) } if @state == state
    end

    # Calls the block with the value in the state `:succeeded`.
    def callback(*arguments, &block) = stateback(:succeeded, *arguments, &block)

    # Calls the block with the value in the state `:failed`.
    def errback(*arguments, &block) = stateback(:failed, *arguments, &block)

    # Calls the block in any final state.
    def completion(*arguments, &block)
      callable = EventMachine::Callback(*arguments, &block)
      completion_states.each { |state| stateback(state, callable) }
    end

    # Enters a state. After a final state all blocks are forgotten.
    def change_state(state, *arguments)
      @state = state
      @value = arguments
      cancel_timeout if completed?
      EventMachine.schedule { enter(state) }
    end

    # @return [Boolean] whether the state is a final one
    def completed? = completion_states.include?(@state)

    # Fails with the arguments, unless it is completed in time.
    #
    # @param seconds [Numeric]
    def timeout(seconds, *arguments)
      cancel_timeout
      @timeout_timer = Timer.new(seconds) { fail(*arguments) unless completed? }
    end

    # Takes back the limit that {#timeout} has set.
    def cancel_timeout
      @timeout_timer&.cancel
      @timeout_timer = nil
    end

    # Removes a block that was added by {#callback}.
    def cancel_callback(*arguments, &block) = cancel(:succeeded, *arguments, &block)

    # Removes a block that was added by {#errback}.
    def cancel_errback(*arguments, &block) = cancel(:failed, *arguments, &block)

    private

    def cancel(state, *arguments, &block) = @callbacks[state].delete(EventMachine::Callback(*arguments, &block))

    def enter(state)
      return @callbacks[state].dup.each { |callable| callable.call(*@value) } unless completion_states.include?(state)
      waiting = @callbacks[state]
      waiting.shift.call(*@value) until waiting.empty?
      @callbacks.clear
    end
  end
end
