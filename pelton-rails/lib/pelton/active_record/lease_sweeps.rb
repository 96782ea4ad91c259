# frozen_string_literal: true

module Pelton
  module ActiveRecord
    # Forgets the leases and query caches of ended fibers when their number has doubled. Before Ruby 3.3.5, Active
    # Record 7.2 to 8.1 looks at all fibers for each new one: with a thousand fibers that is most of what a find costs.
    # @private
    module LeaseSweeps
      LEAST = 64
      private_constant :LEAST

      def self.install
        pool = ::ActiveRecord::ConnectionAdapters::ConnectionPool
        return unless pool.const_defined?(:WeakThreadKeyMap, false)
        map = pool.const_get(:WeakThreadKeyMap)
        map.prepend(self) unless defined?(ObjectSpace::WeakKeyMap) && map.equal?(ObjectSpace::WeakKeyMap)
      end

      def []=(context, value)
        sweep if @map.size >= (@most ||= LEAST)
        @map[context] = value
      end

      private

      def sweep
        @map.keys.each { |context| @map.delete(context) unless context.alive? } # standard:disable Style/HashEachMethods
        @most = [@map.size * 2, LEAST].max
      end
    end
  end
end
