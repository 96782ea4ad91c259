# frozen_string_literal: true

module EventMachine
  # Something that will succeed or fail, and then calls the blocks that were added. Unlike Pelton's Deferrable it calls
  # them inside {#succeed} and {#fail}, and its status may be set again.
  module Deferrable
    # Calls the block with a value, or adds it as the callback of a Deferrable.
    #
    # @return the block's value, or the Deferrable
    def self.future(value, callback = nil, errback = nil, &block)
      value = value.call if value.respond_to?(:call)
      callback ||= block
      if value.respond_to?(:set_deferred_status)
        value.callback(&callback) if callback
        value.errback(&errback) if errback
        value
      else
        callback ? callback.call(value) : value
      end
    end

    # Calls the block with the arguments of {#succeed}; at once when it has succeeded already.
    #
    # @return [self]
    def callback(&block)
      return self unless block
      case @deferred_status
      when :succeeded then block.call(*@deferred_args)
      when :failed then nil
      else (@callbacks ||= []) << block
      end
      self
    end

    # Calls the block with the arguments of {#fail}; at once when it has failed already.
    #
    # @return [self]
    def errback(&block)
      return self unless block
      case @deferred_status
      when :failed then block.call(*@deferred_args)
      when :succeeded then nil
      else (@errbacks ||= []) << block
      end
      self
    end

    # Removes a block that was added by {#callback}.
    #
    # @param block [Proc]
    def cancel_callback(block) = (@callbacks ||= []).delete(block)

    # Removes a block that was added by {#errback}.
    #
    # @param block [Proc]
    def cancel_errback(block) = (@errbacks ||= []).delete(block)

    # Fails with the arguments, unless it is settled in time.
    #
    # @param seconds [Numeric]
    # @return [self]
    def timeout(seconds, *arguments)
      cancel_timeout
      @deferred_timeout = Timer.new(seconds) { fail(*arguments) }
      self
    end

    # Takes back the limit that {#timeout} has set.
    def cancel_timeout
      @deferred_timeout&.cancel
      @deferred_timeout = nil
    end

    # @param status [Symbol, nil] :succeeded or :failed; any other status makes it pending again
    def set_deferred_status(status, *arguments)
      cancel_timeout
      @deferred_status = status
      @deferred_args = arguments
      case status
      when :succeeded then call_deferred(@callbacks, @errbacks)
      when :failed then call_deferred(@errbacks, @callbacks)
      end
    end

    # Settles it as succeeded, and calls the blocks of {#callback} with the arguments.
    def succeed(*arguments) = set_deferred_status(:succeeded, *arguments)
    alias_method :set_deferred_success, :succeed

    # Settles it as failed, and calls the blocks of {#errback} with the arguments.
    def fail(*arguments) = set_deferred_status(:failed, *arguments)
    alias_method :set_deferred_failure, :fail

    private

    # A block may set the status again: then the next blocks get the new arguments.
    def call_deferred(blocks, others)
      while (block = blocks&.shift)
        block.call(*@deferred_args)
      end
      others&.clear
    end
  end

  # A plain Deferrable.
  class DefaultDeferrable
    include Deferrable
  end
end
