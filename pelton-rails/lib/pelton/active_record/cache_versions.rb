# frozen_string_literal: true

require "active_record"

module Pelton
  module ActiveRecord
    # Returns an object's cache version without a database connection. Since 7.1 Rails takes one from the pool twice for
    # each object, to ask for the database's time zone: a seventh of the time of a page with a hundred cached fragments.
    # If all connections are in use, even a page that needs none would wait.
    module CacheVersions
      def self.install
        ::ActiveRecord::Base.prepend(self) if ::ActiveRecord.version >= Gem::Version.new("7.1")
      end

      # Whether the database's times are in UTC, by its settings.
      def self.utc?(pool)
        (pool.db_config.configuration_hash[:default_timezone] || ::ActiveRecord.default_timezone).to_sym == :utc
      end

      private

      # Whether the time as the database sent it can be the version, without being parsed.
      def can_use_fast_cache_version?(timestamp)
        timestamp.is_a?(String) && cache_timestamp_format == :usec && !updated_at_came_from_user? &&
          CacheVersions.utc?(self.class.connection_pool)
      end
    end
  end
end
