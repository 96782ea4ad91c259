# frozen_string_literal: true

require_relative "../pelton"

module Pelton
  # Helpers for the tests of programs that use Pelton: `require "pelton/test"`. They know no framework; their errors are
  # ordinary ones.
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
    # Something still waited when the block of {#in_reactor} had ended.
    class Leftover < Error
    end

    # Runs the block in a reactor, as the only thing that goes on there. Whatever it leaves behind is cancelled.
    #
    # @param timeout [Numeric, nil] seconds for the block
    # @param leftovers [Boolean] whether it may leave waiting fibers behind, such as a server's
    # @return the block's value
    # @raise what the block raises; otherwise the first error that nobody rescued in a callback or a task
    # @raise [Leftover] when something still waits at its end; the message says what, and where
    # @raise [TimeoutError] when its time is over
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

    # Lets everything that is ready run, and the loop turn, so many times.
    #
    # @asynchronous
    def turn(times = 1)
      times.times { Reactor.current.yield }
    end

    # Turns the loop until the block gives something true, and returns that. For what has no better sign.
    #
    # @param timeout [Numeric] seconds
    # @raise [TimeoutError]
    # @asynchronous
    def eventually(timeout: 5)
      Pelton.timeout(timeout) do
        until (result = yield)
          sleep 0.001
        end
        result
      end
    end

    # Keeps the loop from turning for so many seconds, as a computation or a call in C would.
    def stall(seconds)
      Fiber.new(blocking: true) { Kernel.sleep(seconds) }.resume
    end

    # The stalls of the loop during the block that the watchdog noticed: those longer than `threshold` seconds.
    #
    #     assert_empty stalls { Report.new.render }
    #
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
        5.times { Reactor.current.yield } # what ends now may end
        left = Reactor.current.parked - [Fiber.current]
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
        3.times { Reactor.current.yield } # the last one is told when the loop has turned
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
