# frozen_string_literal: true

module Pelton
  module Record
    # Applies the end of a transaction, or savepoint, to the objects written in it: after_commit or after_rollback, once. A rollback restores an
    # object's state: whether it is new, its key, and its changes.
    module Transactions
      # An object's state.
      State = Struct.new(:new, :destroyed, :values, :loaded) { include Opaque }
      SAVEPOINT = {savepoint: true}.freeze
      private_constant :State, :SAVEPOINT

      # @private
      def after_create
        super
        _note_write(:create)
      end

      # @private
      def after_update
        super
        _note_write(:update)
      end

      # @private
      def after_destroy
        super
        @destroyed = true
        _note_write(:destroy)
      end

      # @return [Symbol, nil] in after_commit and after_rollback, how the transaction wrote the row: :create, :update or :destroy
      def written_by = @finished&.first

      # @private
      # @param events [Array<Symbol>]
      def written_by?(events) = @finished ? @finished.intersect?(events) : false

      private

      # Called before the object is written.
      def _watch_transaction
        number = @writes = (@writes || 0) + 1
        before = State.new(new?, @destroyed, new? ? @values.dup : @values.merge(initial_values), @loaded&.dup)
        db.after_rollback(SAVEPOINT) { _rolled_back(number, before) }
        db.after_commit(SAVEPOINT) { _committed } if transactional_callbacks?
      end

      # Called for each write, so it creates no enumerator.
      def transactional_callbacks? = __callbacks.then { |all| !all[:commit].empty? || !all[:rollback].empty? }

      def _note_write(event)
        (@written ||= []) << [@writes, event] if transactional_callbacks?
      end

      # Several writes in a transaction count as one: the first call finds them all.
      def _committed
        return unless @written
        finished, @written = @written, nil
        _finish(finished, :commit)
      end

      # The state before the transaction's first write counts.
      def _rolled_back(number, before)
        return if number > @writes
        @writes = number - 1
        _restore(before)
        gone, kept = (@written || []).partition { |write, _| write >= number }
        @written = kept.empty? ? nil : kept
        _finish(gone, :rollback) if gone.any?
      end

      def _finish(writes, callbacks)
        events = writes.map(&:last).uniq
        @finished = (events.size > 1) ? events - [:update] : events
        run_callbacks(callbacks)
      end

      def _restore(before)
        @destroyed = before.destroyed
        @saved_changes = @this = nil
        @loaded = before.loaded
        before.new ? _restore_new(before) : _restore_changes(before)
        name = model.locking_column
        return unless @values.key?(name)
        before.values.key?(name) ? @values[name] = before.values[name] : @values.delete(name)
      end

      def _restore_new(before)
        @new = true
        Array(model.primary_key).each { |key| before.values.key?(key) ? @values[key] = before.values[key] : @values.delete(key) }
      end

      def _restore_changes(before)
        before.values.each do |name, value|
          next if @values[name] == value || name == model.locking_column
          initial_values[name] = value
          _add_changed_column(name)
        end
      end
    end
  end
end
