# frozen_string_literal: true

module Pelton
  module Record
    # Finds by ActiveRecord's names that use pelton-sequel's plugin pelton_merging: concurrent finds share a query.
    module Merging
      # Finds the object with a primary key, or the objects with several.
      #
      # @return [Model, Array<Model>] an Array for several keys or an Array of keys, in their order
      # @raise [NotFound]
      # @asynchronous
      def find(*ids, &block)
        return relation.find(*ids, &block) if ids.size != 1 || block || (id = ids.first).nil? || id.is_a?(Array) || !unscoped?
        dataset
        return relation.find(id) unless primary_key.is_a?(Symbol)
        id = id.pk if id.is_a?(::Sequel::Model)
        primary_key_lookup(id) || relation.not_found(id)
      end

      # (see Relation::Finders#find_by)
      def find_by(*conditions)
        return relation.find_by(*conditions) if conditions.size != 1 || !(pair = conditions.first).is_a?(Hash) || pair.size != 1 || !unscoped?
        column, value = pair.first
        dataset
        case value
        when String, Numeric, Symbol, Time, Date, true, false then return relation.find_by(pair) unless unique_columns.include?(column)
        else return relation.find_by(pair)
        end
        key = comparable(column, value)
        return relation.find_by(pair) unless key.is_a?(Integer) || key.instance_of?(String)
        ::Sequel::Plugins::PeltonMerging.find(self, column, key)
      rescue ::Sequel::InvalidValue
        nil
      end

      # @private
      def find_alone(column, key)
        super
      rescue ::Sequel::DatabaseError => error
        raise if !db.respond_to?(:driver) || !db.driver.impossible_value?(error) || db.in_transaction? # which the error has ended
        nil
      end

      private

      # Sequel's way to a single row, also for belongs_to.
      def primary_key_lookup(key)
        return relation.find_by(primary_key_hash(key)) unless default_scopes.empty?
        return super if key.is_a?(Array)
        key = comparable(primary_key, key) unless key.is_a?(Integer) && key.bit_length < 64 && integer_key?
        super unless key.nil?
      rescue ::Sequel::InvalidValue # no row has such a key
        nil
      end

      # Whether the key is the usual integer, which needs no cast.
      def integer_key?
        @integer_key = integers?(primary_key) if @integer_key.nil?
        @integer_key
      end
    end
  end
end
