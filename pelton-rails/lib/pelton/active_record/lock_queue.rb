# frozen_string_literal: true

require "active_support"
require "active_support/fork_tracker"
require "pelton/clock"

module Pelton
  module ActiveRecord
    # The connections that wait for the write lock of an SQLite database, in the order in which they came. Without an
    # order the lock goes to whoever happens to try after it was released, and some wait for many times as long as
    # others.
    #
    # SQLite reports a lock that is held, but neither that it was released nor that it was granted. So the first in the
    # queue tries again and again, and the others wait for it. When it is granted the lock, it does not come back after
    # its try: the next time that the queue is looked at, it is taken out.
    class LockQueue
      # Seconds between two tries: after the first, and at most.
      FIRST_PAUSE = 0.0001
      LONGEST_PAUSE = 0.001

      # One that waits.
      class Place
        attr_reader :condition
        attr_accessor :trying, :tries

        def initialize
          @condition = ConditionVariable.new
          @trying = false
          @tries = 0
        end
      end

      @queues = {}
      @mutex = Mutex.new

      class << self
        # @param file [String] the database's path
        # @return [LockQueue] of this process
        def of(file) = @mutex.synchronize { @queues[file] ||= new }

        # @private
        def clear = @mutex.synchronize { @queues.each_value(&:clear) }
      end

      # A child has none of its parent's waiting fibers.
      ActiveSupport::ForkTracker.after_fork { clear }

      def initialize
        clear
      end

      # Waits until it is time to try.
      #
      # @param place [Place] the same for each try
      # @param deadline [Float] on {Clock}
      # @return [Boolean] false if the deadline has passed
      # @asynchronous
      def wait(place, deadline)
        @mutex.synchronize do
          place.trying = false
          @places << place unless @places.include?(place)
          granted = wait_for_turn(place, deadline)
        ensure
          @places.delete(place) unless granted
          @places[granted ? 1 : 0]&.condition&.signal
        end
      end

      # @return [Boolean] whether others wait
      def any? = !@places.empty? && @mutex.synchronize { !first.nil? }

      # Lets the first one try at once.
      def released
        return if @places.empty?
        @mutex.synchronize { first&.condition&.signal }
      end

      # @private
      def clear
        @mutex = Mutex.new
        @places = []
      end

      private

      def wait_for_turn(place, deadline)
        while (left = deadline - Clock.now) > 0
          next place.condition.wait(@mutex, left) unless first.equal?(place)
          place.condition.wait(@mutex, [FIRST_PAUSE * (place.tries += 1), LONGEST_PAUSE, left].min)
          return place.trying = true
        end
        false
      end

      def first
        @places.shift while @places.first&.trying
        @places.first
      end
    end
  end
end
