# frozen_string_literal: true

require "active_record"
require_relative "adapters"

module Pelton
  module ActiveRecord
    # Logs what blocks a process with many fibers on one thread, when a pool is first used in a reactor.
    module Advice
      ISOLATION = "state and database connections are kept by thread, so fibers would share each other's " \
        "transactions: take ActiveSupport::IsolatedExecutionState.isolation_level = :fiber"
      private_constant :ISOLATION

      @silent = false

      class << self
        # @return [Boolean] whether another part of the program gives the advice, as Rails' does at boot
        attr_accessor :silent

        def install = ::ActiveRecord::ConnectionAdapters::ConnectionPool.prepend(self)

        # @return [Array<String>] a sentence for each thing that blocks
        def sentences(adapter)
          [ADAPTERS[adapter],
            (ISOLATION unless ActiveSupport::IsolatedExecutionState.isolation_level == :fiber)].compact
        end
      end

      def checkout(...)
        advise unless @advised
        super
      end

      private

      def advise
        return unless Pelton.running?
        @advised = true
        unless Advice.silent
          Advice.sentences(db_config.adapter).each { |sentence| Pelton.logger.info("Active Record: #{sentence}") }
        end
      end
    end
  end
end
