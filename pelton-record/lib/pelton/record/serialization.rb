# frozen_string_literal: true

module Pelton
  module Record
    # Objects as Hashes and JSON (ActiveModel's `serializable_hash`, `as_json`, `to_json`), and keys for views and caches.
    module Serialization
      extend ActiveSupport::Concern
      include ActiveModel::Serializers::JSON
      include ActiveModel::Conversion

      # @return [String] for caches: "users/1", or "users/new"
      def cache_key = "#{model_name.cache_key}/#{(persisted? && pk) ? Array(pk).join("-") : "new"}"

      # @return [String, nil] changes with each write: updated_at
      def cache_version = model.update_timestamps.filter_map { |name| @values[name] }.max&.utc&.strftime("%Y%m%d%H%M%S%6N")

      # @return [String]
      def cache_key_with_version = [cache_key, cache_version].compact.join("-")

      private

      # The class is not part of the serialized attributes.
      def attribute_names_for_serialization = attributes.keys - [model.inheritance_column.to_s]
    end
  end
end
