# frozen_string_literal: true

module Pelton
  module Record
    class Relation
      # Writes rows without objects: no validations, no callbacks.
      module Writes
        # @example update_all(active: false), update_all("visits = visits + 1"), update_all(["name = ?", name])
        # @param changes [Hash, String, Array]
        # @return [Integer] number of rows
        # @asynchronous
        def update_all(changes)
          case changes
          when Hash
            raise ArgumentError, "update_all needs what to change" if changes.empty?
            plain_rows.update(changes.to_h { |name, value| [model.column_alias(name.to_sym), written(name, value)] })
          when String, Array then text_update(*changes)
          else raise ArgumentError, "update_all takes a Hash, or SQL with its values, not a #{changes.class}"
          end
        end

        # Updates each object, with validations and callbacks.
        #
        # @param attributes [Hash]
        # @return [Array<Model>]
        # @asynchronous
        def update(attributes) = to_a.each { |record| record.update(attributes) }

        # @return [Array<Model>]
        # @raise [Invalid, NotSaved]
        # @asynchronous
        def update!(attributes) = to_a.each { |record| record.update!(attributes) }

        # @return [Integer] number of rows
        # @asynchronous
        def delete_all = plain_rows.delete

        # Destroys each object, with its callbacks.
        #
        # @return [Array<Model>]
        # @asynchronous
        def destroy_all = to_a.each(&:destroy)

        # Sets updated_at and the named columns to now.
        #
        # @return [Integer] number of rows
        # @asynchronous
        def touch_all(*names, time: Time.now)
          columns = model.update_timestamps + names.map(&:to_sym)
          columns.empty? ? 0 : update_all(columns.to_h { |name| [name, time] })
        end

        # Adds numbers to columns.
        #
        # @example where(id: 1).update_counters(posts_count: 1)
        # @return [Integer] number of rows
        # @raise [BadValue] if a value is no number
        # @asynchronous
        def update_counters(counters)
          plain_rows.update(counters.to_h { |name, by| [name.to_sym, ::Sequel.function(:coalesce, Condition.qualified(plain_rows, name.to_sym), 0) + model.addend(name, by)] })
        end

        # Inserts rows in one statement. Skips rows that would violate a unique index.
        #
        # @param rows [Array<Hash>] all with the same columns
        # @param unique_by [Symbol, Array<Symbol>, nil] the index's columns; nil for any unique index
        # @param returning [Symbol, Array<Symbol>, nil] columns of the new rows; not on MySQL, nor on MariaDB before 10.5
        # @param record_timestamps [Boolean] whether to set created_at and updated_at
        # @return [Array<Hash>] the inserted rows' columns; empty without `returning`
        # @asynchronous
        def insert_all(rows, unique_by: nil, returning: nil, record_timestamps: model.record_timestamps)
          into = plain_rows.then { |found| unique_by ? conflict(found, unique_by, nil) : ignoring(found) }
          insert_rows(into, rows, returning, record_timestamps)
        end

        # Like {#insert_all}, but raises instead of skipping rows.
        #
        # @return [Array<Hash>]
        # @raise [Sequel::UniqueConstraintViolation]
        # @asynchronous
        def insert_all!(rows, returning: nil, record_timestamps: model.record_timestamps) = insert_rows(plain_rows, rows, returning, record_timestamps)

        # Inserts rows, or updates existing ones.
        #
        # @param rows [Array<Hash>] all with the same columns
        # @param unique_by [Symbol, Array<Symbol>] the columns of a unique index
        # @param update_only [Array<Symbol>, nil] the columns to update; nil for all that the rows have
        # @param on_duplicate [Symbol] :update, or :skip as in {#insert_all}
        # @return [Array<Hash>] see {#insert_all}
        # @asynchronous
        def upsert_all(rows, unique_by: model.primary_key, update_only: nil, returning: nil, on_duplicate: :update, record_timestamps: model.record_timestamps)
          return [] if rows.empty?
          return insert_all(rows, unique_by: unique_by, returning: returning, record_timestamps: record_timestamps) if on_duplicate == :skip
          updated = Array(update_only || (rows.first.keys.map(&:to_sym) - Array(unique_by) - %i[created_at created_on])).map(&:to_sym)
          insert_rows(conflict(plain_rows, unique_by, updated), rows, returning, record_timestamps)
        end

        private

        # The table with the conditions only: an UPDATE of a join or a limited query selects by key.
        def plain_rows
          found = dataset.naked.clone(eager: nil, order: nil, select: nil)
          return found unless dataset.opts[:join] || dataset.opts[:limit] || dataset.opts[:group] || dataset.opts[:offset] || dataset.opts[:distinct]
          key = model.primary_key
          keys = dataset.naked.clone(eager: nil).select(*Array(key).map { |name| Condition.qualified(dataset, name) })
          model.dataset.naked.where(key => keys.from_self)
        end

        def written(name, value)
          case value
          when ::Sequel::SQL::Expression, ::Sequel::LiteralString, ::Sequel::Dataset then value
          else model.writable(model.column_alias(name.to_sym), value)
          end
        end

        def text_update(text, *values)
          raise ArgumentError, "update_all takes a Hash, or SQL with its values: the SQL is a #{text.class}" unless text.is_a?(String)
          raise ArgumentError, "update_all needs what to change" if text.blank?
          text = Sequel::Text.utf8(text)
          text = plain_rows.literal(Condition.of(self, text, *values)).delete_prefix("(").delete_suffix(")") unless values.empty?
          plain_rows.update(::Sequel.lit(text))
        end

        # Rows also get the conditions' values: author.posts.insert_all(...).
        def insert_rows(into, rows, returning, record_timestamps)
          return [] if rows.empty?
          refuse_rows(rows)
          into = into.unfiltered
          rows = rows.map { |row| given.transform_keys(&:to_sym).merge(row.transform_keys(&:to_sym)) } unless given.empty?
          names = rows.first.keys.map(&:to_sym)
          stamps = record_timestamps ? model.create_timestamps - names : []
          now = Time.now
          values = rows.map do |row|
            row = row.transform_keys(&:to_sym)
            raise ArgumentError, "all rows need the same columns: #{names.inspect} and #{row.keys.inspect}" unless row.size == names.size && names.all? { |name| row.key?(name) }
            names.map { |name| written(name, row[name]) } + stamps.map { now }
          end
          return into.import(names + stamps, values).then { [] } unless returning
          into = into.returning(*Array(returning))
          into.with_sql(into.multi_insert_sql(names + stamps, values).first).all
        end

        def refuse_rows(rows)
          rows.each do |row|
            raise ArgumentError, "a row that is inserted is a Hash, not a #{row.class}" unless row.respond_to?(:to_hash)
            raise ArgumentError, "a row that is inserted has at least one column" if row.empty?
          end
        end

        # MySQL's INSERT IGNORE would store a changed value for a number out of range, or text that is too long.
        def ignoring(found)
          return found.insert_conflict unless found.db.database_type == :mysql
          key = Array(model.primary_key).first || model.columns.first
          found.on_duplicate_key_update(key => ::Sequel.identifier(key))
        end

        def conflict(found, unique_by, updated)
          return (updated.nil? || updated.empty?) ? ignoring(found) : found.on_duplicate_key_update(*updated) if found.db.database_type == :mysql
          target = {target: unique_by.is_a?(Array) ? unique_by.map(&:to_sym) : unique_by.to_sym}
          return found.insert_conflict(target) if updated.nil? || updated.empty?
          found.insert_conflict(target.merge(update: updated.to_h { |name| [name, ::Sequel[:excluded][name]] }))
        end
      end
    end
  end
end
