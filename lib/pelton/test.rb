# frozen_string_literal: true

require_relative "../pelton"

module Pelton
  # Helpers for the tests of programs that use Pelton: `require "pelton/test"`. They work with any test framework,
  # because they report failures by ordinary exceptions.
  #
  #     class ShopTest < Minitest::Test
  #       include Pelton::Test
  #
  #       def test_order
  #         in_reactor { assert_equal "paid", Shop.new.order("tea") }
  #       end
  #     end
  #
  #     RSpec.configure do |config|
  #       config.include Pelton::Test
  #       config.around(reactor: true) { |example| in_reactor { example.run } }
  #     end
  module Test
    # Raised when fibers still wait at the end of the block of {#in_reactor}.
    class Leftover < Error
    end

    # Runs the block in Pelton.run, and then cancels all fibers that are left.
    #
    # @param timeout [Numeric, nil] seconds for the block
    # @param leftovers [Boolean] whether the block may leave waiting fibers behind, such as a server's
    # @return the block's value
    # @raise the error that the block raises; otherwise the first unhandled error of a callback or a task
    # @raise [Leftover] when fibers still wait at the block's end; the message says where
    # @raise [TimeoutError] when the time is over
    def in_reactor(timeout: 5, leftovers: false)
      value = nil
      errors = Test.unrescued do
        Pelton.run(grace: 1) do
          value = Pelton.timeout(timeout) { yield }
          Test.refuse_leftovers unless leftovers
        ensure
          Pelton.stop
        end
      end
      raise errors.first if errors.any?
      value
    end

    # Runs so many iterations of the loop, so that all fibers and callbacks that are ready run.
    #
    # @param times [Integer]
    # @asynchronous
    def turn(times = 1) = times.times { Reactor.current.yield }

    # Runs the loop until the block returns a true value, and returns that value. Use it where nothing can be awaited.
    #
    # @param timeout [Numeric] seconds
    # @raise [TimeoutError] when the block returned no true value in time
    # @asynchronous
    def eventually(timeout: 5)
      Pelton.timeout(timeout) do
        until (result = yield)
          sleep 0.001
        end
        result
      end
    end

    # Blocks the loop, as a computation or a call in C would.
    #
    # @param seconds [Numeric]
    def stall(seconds) = Fiber.new(blocking: true) { Kernel.sleep(seconds) }.resume

    # Returns the stalls of the loop that the watchdog noticed while the block ran.
    #
    #     assert_empty stalls { Report.new.render }
    #
    # @param threshold [Numeric] seconds that the loop may be blocked without a stall
    # @return [Array<Watchdog::Stall>]
    # @asynchronous
    def stalls(threshold: Watchdog::DEFAULT, &block) = Test.stalls(threshold, block)

    class << self
      # @private
      def unrescued
        errors = []
        before = Pelton.on_error { |error| errors << error }
        yield
        errors
      ensure
        Pelton.on_error(&before)
      end

      # @private
      def refuse_leftovers
        5.times { Reactor.current.yield } # fibers that are about to end have the time to
        transient = Pelton.tasks.select(&:transient?).map { |task| task.waiting_fiber }
        left = Reactor.current.parked - [Fiber.current] - transient
        return if left.empty?
        raise Leftover, "#{left.size} fiber(s) still wait:\n\n#{left.map { |fiber| where(fiber) }.join("\n\n")}"
      end

      # @private
      def stalls(threshold, block)
        found = []
        before = Watchdog.threshold
        listener = Pelton.on_stall { |stall| found << stall }
        Watchdog.threshold = threshold
        block.call
        3.times { Reactor.current.yield } # the last stall is reported in the next iteration
        found
      ensure
        Watchdog.threshold = before
        Pelton.on_stall(&listener)
      end

      private

      def where(fiber)
        lines = fiber.backtrace&.reject { |line| line.start_with?(LIBRARY) }
        "    #{(lines.nil? || lines.empty?) ? fiber.inspect : lines.join("\n    ")}"
      end
    end

    LIBRARY = File.expand_path("..", __dir__)
    private_constant :LIBRARY
  end
end
