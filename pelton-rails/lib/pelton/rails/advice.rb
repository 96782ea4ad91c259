# frozen_string_literal: true

module Pelton
  module Rails
    # What of an application's configuration blocks a process that serves many requests on one thread, and what to take instead.
    class Advice
      ADAPTERS = {
        "mysql2" => "the database adapter mysql2 blocks the process while it connects, reads a result or runs a prepared statement: " \
          "take trilogy (gem \"trilogy\", adapter: trilogy)",
        "sqlite3" => "the database adapter sqlite3 blocks the process while a statement runs: keep statements short, and run more workers"
      }.freeze
      private_constant :ADAPTERS

      # @param application [Rails::Application] which is initialized
      def initialize(application)
        @application = application
      end

      # @return [Array<String>] a sentence for each
      def sentences = [database, queue, cache, sessions, isolation].compact

      # Writes the sentences to the log of Pelton, once.
      def log = sentences.each { |sentence| Pelton.logger.info("Rails: #{sentence}") }

      private

      def database
        return unless defined?(::ActiveRecord::Base)
        ADAPTERS[::ActiveRecord::Base.connection_db_config.adapter]
      rescue ::ActiveRecord::ActiveRecordError, LoadError
        nil # without a database
      end

      def queue
        return unless defined?(::ActiveJob::Base) && ::ActiveJob::Base.queue_adapter.is_a?(::ActiveJob::QueueAdapters::AsyncAdapter)
        "the queue adapter async runs jobs in threads, which compete with all requests: take config.active_job.queue_adapter = :pelton, " \
          "or one whose jobs run in a process of their own"
      end

      def cache
        return unless ::Rails.cache.class.name.to_s.end_with?("::MemCacheStore") # by its name: the class may need a gem that is not there
        "the cache store mem_cache_store waits for one reply after another: take config.cache_store = :pelton_store with the same servers"
      end

      def sessions
        return if @application.config.session_store? != :mem_cache_store || @application.config.session_options[:pool_size]
        "the session store mem_cache_store has one connection, at which all requests take turns: take config.session_store :cache_store, with " \
          "config.cache_store = :pelton_store"
      end

      def isolation
        return if @application.config.active_support.isolation_level == :fiber
        "the state of a request is kept by thread, and requests would see each other's: take config.active_support.isolation_level = :fiber"
      end
    end
  end
end
