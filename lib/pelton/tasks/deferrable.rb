# frozen_string_literal: true

module Pelton
  # Something that will succeed or fail once, and then notifies everyone who asked: EventMachine's contract, for classes
  # of your own. Pelton's own methods return an {Operation}, which includes this module.
  #
  #     class Download
  #       include Pelton::Deferrable
  #     end
  #     download.callback { |bytes| ... }.errback { |error| ... }
  #     download.succeed(bytes)
  #
  # The first {#succeed} or {#fail} counts, later ones are ignored. Blocks are called in the order in which they were
  # given, each once. The reactor calls them later: never inside the method that took them, nor inside {#succeed} or
  # {#fail}. Where no reactor runs, {#await} calls them, or else the next Pelton.run; a block that is given after the
  # outcome is known is then called at once. A failure that nothing handles goes to Pelton.on_error. An errback, an
  # {#await} and a Deferrable composed of this one handle it.
  module Deferrable
    # Calls the block with the values given to {#succeed}.
    #
    # @return [self]
    def callback(&block)
      deferred.callback(&block)
      self
    end

    # Calls the block with the errors given to {#fail}.
    #
    # @return [self]
    def errback(&block)
      deferred.errback(&block)
      self
    end

    # Completes the operation. Any thread may call it.
    #
    # @param values [Array] the arguments of the callbacks; {#await} returns the only one, or an Array of several
    # @return [self]
    def succeed(*values)
      deferred.succeed(*values)
      self
    end

    # Completes the operation with a failure. Any thread may call it.
    #
    # @param errors [Array] the arguments of the errbacks: an exception, in most cases
    # @return [self]
    def fail(*errors)
      deferred.fail(*errors)
      self
    end

    # Fails the operation with a {TimeoutError} unless it completes in time. Another call replaces the limit. A limit
    # keeps Pelton.run going.
    #
    # @param seconds [Numeric, nil] seconds from now; nil removes the limit
    # @return [self]
    def timeout(seconds)
      deferred.timeout(seconds)
      self
    end

    # Waits for the outcome. Returns the value or raises the error.
    #
    # @param timeout [Numeric, nil] seconds
    # @return the value
    # @raise the error with which it failed
    # @raise [TimeoutError] when the time is over first; that does not complete the operation
    # @raise [Error] when it failed with something that is no exception, or when another thread's reactor made it
    # @asynchronous
    def await(timeout: nil) = deferred.await(timeout: timeout)

    # @return [Symbol] :pending, :succeeded or :failed
    def state = deferred.state

    # @return [Boolean] whether it has succeeded or failed
    def done? = deferred.done?

    # @return the value or the error; nil while it is pending
    def result = deferred.result

    # Succeeds with the value of the block, which is called with this one's value. Fails with this one's error, or with
    # the error that the block raises.
    #
    # @return [Operation]
    def map
      Operation.new.tap do |mapped|
        callback do |*values|
          mapped.succeed(yield(*values))
        rescue => error
          mapped.fail(error)
        end
        errback { |*errors| mapped.fail(*errors) }
      end
    end

    private

    def deferred = @pelton_deferred ||= Operation.new

    class << self
      # Succeeds with the values of all, in the order of the list, when the last one succeeds. Fails with the first
      # error.
      #
      # @param list [Array<Deferrable>]
      # @param cancel [Boolean] whether to cancel the tasks in the list that are still pending once the outcome is known
      #   ({Task#cancel}). Otherwise they go on, and their errors are not reported.
      # @return [Operation]
      def all(*list, cancel: false) = Composition.new(list.flatten, cancel).all

      # Succeeds with the first value. Fails with an {AllFailedError} when all have failed.
      #
      # @param (see all)
      # @return [Operation]
      def any(*list, cancel: false) = Composition.new(list.flatten, cancel).any

      # Succeeds or fails as the first operation that completes.
      #
      # @param (see all)
      # @return [Operation]
      # @raise [ArgumentError] for an empty list, which would never complete
      def race(*list, cancel: false) = Composition.new(list.flatten, cancel).race
    end
  end
end
