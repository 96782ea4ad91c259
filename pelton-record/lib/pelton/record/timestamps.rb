# frozen_string_literal: true

module Pelton
  module Record
    # created_at and updated_at (or _on, for dates), where the table has them.
    module Timestamps
      # @private
      def self.included(model)
        model.extend(ClassMethods)
      end

      # Class methods.
      module ClassMethods
        # @return [Boolean] whether to set them
        attr_writer :record_timestamps

        # @return [Boolean]
        def record_timestamps = defined?(@record_timestamps) ? @record_timestamps : !superclass.respond_to?(:record_timestamps) || superclass.record_timestamps

        # @private
        def create_timestamps = @create_timestamps ||= %i[created_at created_on updated_at updated_on].select { |name| db_schema.key?(name) }
        # @private
        def update_timestamps = @update_timestamps ||= %i[updated_at updated_on].select { |name| db_schema.key?(name) }
      end

      # @private
      def before_create
        super
        _stamp(model.create_timestamps.select { |name| @values[name].nil? }) if model.record_timestamps
      end

      # @private
      def before_update
        super
        return unless model.record_timestamps && @touch != false && changed_columns.any?
        _stamp(model.update_timestamps - changed_columns)
      end

      private

      def _stamp(names)
        now = Time.now
        names.each { |name| self[name] = now }
      end
    end
  end
end
