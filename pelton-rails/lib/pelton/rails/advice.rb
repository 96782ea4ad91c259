# frozen_string_literal: true

require_relative "../active_record/adapters"

module Pelton
  module Rails
    # Finds settings of an application that block a process with many requests on one thread, and names alternatives.
    class Advice
      # @param application [Rails::Application] initialized
      def initialize(application)
        @application = application
      end

      # @return [Array<String>] a sentence for each
      def sentences = [database, queue, cache, sessions, isolation].compact

      # Writes the sentences to Pelton's log.
      def log = sentences.each { |sentence| Pelton.logger.info("Rails: #{sentence}") }

      private

      def database
        return unless defined?(::ActiveRecord::Base)
        ActiveRecord::ADAPTERS[::ActiveRecord::Base.connection_db_config.adapter]
      rescue ::ActiveRecord::ActiveRecordError, LoadError
        nil # no database
      end

      def queue
        unless defined?(::ActiveJob::Base) &&
            ::ActiveJob::Base.queue_adapter.is_a?(::ActiveJob::QueueAdapters::AsyncAdapter)
          return
        end
        "the queue adapter async runs jobs in threads, which compete with all requests: take " \
        "config.active_job.queue_adapter = :pelton, or one whose jobs run in a process of their own"
      end

      def cache
        # By name: the class may need a gem that is missing
        return unless ::Rails.cache.class.name.to_s.end_with?("::MemCacheStore")
        "the cache store mem_cache_store waits for one reply after another: take config.cache_store = :pelton_store " \
        "with the same servers"
      end

      def sessions
        if @application.config.session_store? != :mem_cache_store || @application.config.session_options[:pool_size]
          return
        end
        "the session store mem_cache_store has one connection, at which all requests take turns: take " \
        "config.session_store :cache_store, with config.cache_store = :pelton_store"
      end

      def isolation
        return if @application.config.active_support.isolation_level == :fiber
        "the state of a request is kept by thread, and requests would see each other's: take " \
        "config.active_support.isolation_level = :fiber"
      end
    end
  end
end
