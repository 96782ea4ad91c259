# frozen_string_literal: true

module Pelton
  module Record
    # Optimistic locking by `lock_version`, and row locks by `lock!`.
    module Locking
      # @private
      def self.included(model)
        model.extend(ClassMethods)
      end

      # Class methods.
      module ClassMethods
        attr_writer :locking_column

        # @return [Symbol]
        def locking_column = @locking_column || (superclass.respond_to?(:locking_column) ? superclass.locking_column : :lock_version)

        # @private
        def locks_by_version? = db_schema.key?(locking_column)
      end

      # Locks the row until the transaction ends, and reloads it. SQLite has no row locks, but one writer at a time.
      #
      # @param mode [Boolean, String] see {Relation::Selection#lock}
      # @return [self]
      # @raise [NotSaved] if unsaved changes would be lost
      # @raise [NotFound] if the row was deleted
      # @asynchronous
      def lock!(mode = true)
        raise NotSaved.new(self, "#{model} #{pk} has changes, which lock! would lose: save it first") if changed?
        reload(lock: mode)
      end

      # Begins a transaction, locks the row, and calls the block.
      #
      # @return the block's value
      # @asynchronous
      def with_lock(mode = true)
        model.db.transaction { lock!(mode) && yield }
      end

      private

      def before_create
        super
        self[model.locking_column] ||= 0 if model.locks_by_version?
      end

      # Increments the version, if the row still has the loaded one.
      def _update_without_checking(columns)
        return super unless model.locks_by_version?
        name = model.locking_column
        before = @values[name]
        written = _update_dataset.where(name => before).update(_stored(columns.merge(name => (before || 0) + 1)))
        if written == 1
          initial_values[name] = before
          @values[name] = (before || 0) + 1
        end
        written
      end

      def _destroy_delete
        return super unless model.locks_by_version?
        raise Stale, self unless this.where(model.locking_column => @values[model.locking_column]).delete == 1
      end
    end
  end
end
