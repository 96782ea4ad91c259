# frozen_string_literal: true

require "active_record"

module Pelton
  module Rails
    # Lets an object say its version for the key of a cache without a connection to the database. Since 7.1 Rails takes one from the pool to ask for the database's
    # time zone, twice for each object: a seventh of what a page with a hundred cached parts computes. And where all connections are in use, a page that needs
    # none of them would wait.
    module CacheVersions
      def self.install
        ::ActiveRecord::Base.prepend(self) if ::ActiveRecord.version >= Gem::Version.new("7.1")
      end

      # Whether the database's times are in UTC, as its settings say it.
      def self.utc?(pool)
        (pool.db_config.configuration_hash[:default_timezone] || ::ActiveRecord.default_timezone).to_sym == :utc
      end

      private

      # Whether the time, as the database has sent it, can be the version without being parsed.
      def can_use_fast_cache_version?(timestamp)
        timestamp.is_a?(String) && cache_timestamp_format == :usec && !updated_at_came_from_user? && CacheVersions.utc?(self.class.connection_pool)
      end
    end
  end
end
