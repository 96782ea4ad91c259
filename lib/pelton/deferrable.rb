# frozen_string_literal: true

module Pelton
  # Something that will succeed or fail once, and tells whoever asks: EventMachine's contract, for classes of your own.
  # {Operation}, what Pelton's own methods return, has it too.
  #
  #     class Download
  #       include Pelton::Deferrable
  #     end
  #     download.callback { |bytes| ... }.errback { |error| ... }
  #     download.succeed(bytes)
  #
  # The first {#succeed} or {#fail} counts, later ones are ignored. Blocks are called in the order they were given, each
  # once, and always in a later job of the reactor: never inside the method that took them, nor inside {#succeed}. Where no
  # reactor runs, {#await} calls them, or the next Pelton.run does; one that is given when it is settled already is called
  # at once. A failure that nobody hears of by then goes to Pelton.on_error: an errback, an {#await} and a Deferrable
  # composed of this one hear of it.
  module Deferrable
    # Calls the block with what {#succeed} was given.
    #
    # @return [self]
    def callback(&block)
      deferred.callback(&block)
      self
    end

    # Calls the block with what {#fail} was given.
    #
    # @return [self]
    def errback(&block)
      deferred.errback(&block)
      self
    end

    # @param values [Array] what callbacks are called with; the first one, or an Array of several, is what {#await} returns
    # @return [self]
    def succeed(*values)
      deferred.succeed(*values)
      self
    end

    # @param errors [Array] what errbacks are called with: an exception, in most cases
    # @return [self]
    def fail(*errors)
      deferred.fail(*errors)
      self
    end

    # Fails with a TimeoutError unless it is settled within so many seconds from now. Another call replaces the limit;
    # nil takes it away. A limit keeps Pelton.run going.
    #
    # @param seconds [Numeric, nil]
    # @return [self]
    def timeout(seconds)
      deferred.timeout(seconds)
      self
    end

    # Waits until it is settled. Returns its value or raises its error.
    #
    # @param timeout [Numeric, nil] seconds
    # @raise [TimeoutError] when the time is over first; it is not settled by that
    # @raise [Error] when it failed with something that is no exception
    # @asynchronous
    def await(timeout: nil) = deferred.await(timeout: timeout)

    # @return [Symbol] :pending, :succeeded or :failed
    def state = deferred.state

    # Whether it has succeeded or failed.
    def done? = deferred.done?

    # @return the value or the error, nil while it is pending
    def result = deferred.result

    # A Deferrable of what the block makes of the value. It fails as this one does, or with what the block raises.
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
      # Succeeds with the values of all, in the order of the list, when the last one succeeds. Fails with the first error.
      #
      # @param list [Array<Deferrable>]
      # @param cancel [Boolean] whether those that are still pending once the outcome is known are cancelled, if they can
      #   be ({Task#cancel}). Otherwise they go on, and nobody hears of their errors.
      # @return [Operation]
      def all(*list, cancel: false) = Composition.new(list.flatten, cancel).all

      # Succeeds with the first value. Fails with an {AllFailedError} when all have failed.
      #
      # @param (see all)
      # @return [Operation]
      def any(*list, cancel: false) = Composition.new(list.flatten, cancel).any

      # Becomes what the first one becomes that is settled.
      #
      # @param (see all)
      # @return [Operation]
      # @raise [ArgumentError] for an empty list, which would never be settled
      def race(*list, cancel: false) = Composition.new(list.flatten, cancel).race
    end
  end
end
