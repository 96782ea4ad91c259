# frozen_string_literal: true

module Pelton
  module Record
    # Writing objects: save, update, destroy and so on.
    module Persistence
      # @private
      def self.append_features(model)
        model.alias_method :_save_row, :save # Sequel's own
        model.send(:private, :_save_row)
        super
        model.extend(ClassMethods)
      end

      # Class methods.
      module ClassMethods
        # @param attributes [Hash, Array<Hash>]
        # @yieldparam record [Model] before it is saved
        # @return [Model, Array<Model>] saved, unless it is invalid
        # @asynchronous
        def create(attributes = ::Sequel::OPTS, &block) = relation.create(attributes, &block)

        # @return [Model, Array<Model>]
        # @raise [Invalid, NotSaved]
        # @asynchronous
        def create!(attributes = ::Sequel::OPTS, &block) = relation.create!(attributes, &block)

        # @private
        # @return [Numeric] what to add to a column
        # @raise [BadValue] if `by` is no number
        def addend(name, by)
          raise BadValue, "#{self}.#{name} grows by a number, not by a #{by.class}" unless by.is_a?(Numeric) && by.real? && by.finite?
          integers?(name.to_sym) ? writable(name.to_sym, by) : by
        end

        # Begins a transaction, or a savepoint inside one. An error rolls it back and is raised again, except Sequel::Rollback.
        #
        # @return the block's value
        # @asynchronous
        def transaction(**options, &block) = db.transaction(savepoint: options.delete(:requires_new), **options.reject { |name, value| value.nil? && name != :num_retries }, &block)

        # @private
        def create_timestamps = []
        # @private
        def update_timestamps = []
      end

      # @return the block's value
      # @asynchronous
      def transaction(**options, &block) = model.transaction(**options, &block)

      # @param attributes [Hash]
      # @yieldparam record [Model]
      # @raise [Forbidden, ArgumentError] see {Assignment#assign_attributes}
      def initialize(attributes = ::Sequel::OPTS, &block)
        model.dataset
        super
        left = model.declared_defaults
        _keep_defaults(left.reject { |name| @values.key?(name) }) if left.any?
      end

      # @param validate [Boolean]
      # @param touch [Boolean] whether updated_at is set
      # @param context [Symbol, nil] for validations with `on:`
      # @return [Boolean] false if it is invalid, or a callback threw :abort
      # @asynchronous
      def save(options = nil, validate: true, touch: true, context: nil, **more)
        return _save_row(options || more) if options || more.any? # as Sequel calls it
        _write(validate: validate, touch: touch, context: context) ? true : false
      end

      # @return [true]
      # @raise [Invalid, NotSaved]
      # @asynchronous
      def save!(validate: true, touch: true, context: nil)
        raise Invalid, self if validate && !valid?(context)
        _write(validate: false, touch: touch) || raise(NotSaved, self)
        true
      end

      # @param attributes [Hash]
      # @return [Boolean]
      # @asynchronous
      def update(attributes)
        model.db.transaction { assign_attributes(attributes) && save }
      end

      # @return [true]
      # @raise [Invalid, NotSaved]
      # @asynchronous
      def update!(attributes)
        model.db.transaction { assign_attributes(attributes) && save! }
      end

      # Assigns and saves without validations.
      #
      # @return [Boolean]
      # @asynchronous
      def update_attribute(name, value)
        public_send(:"#{name}=", value)
        save(validate: false)
      end

      # Writes columns, without validations and callbacks.
      #
      # @return [Boolean]
      # @asynchronous
      def update_columns(attributes)
        _refuse_readonly
        raise NotSaved.new(self, "a new #{model} has no row to update: save it first") unless persisted?
        attributes.each_key { |name| _refuse_unknown(model.column_alias(name.to_sym)) }
        rows = model.unscoped.where(pk_hash).update_all(attributes)
        attributes.each do |name, value|
          name = model.column_alias(name.to_sym)
          @values[name] = value.is_a?(::Sequel::SQL::Expression) ? value : model.cast(name, value)
          changed_columns.delete(name)
          initial_values.delete(name)
        end
        rows == 1
      end

      # @return [Boolean]
      # @asynchronous
      def update_column(name, value) = update_columns(name => value)

      # @return [self, false] false if a callback threw :abort
      # @asynchronous
      def destroy(options = nil)
        return super if options
        _refuse_readonly
        return (@destroyed = true) && self if new?
        super(raise_on_failure: false) || false
      end

      # @return [self]
      # @raise [NotSaved] if a callback threw :abort
      # @asynchronous
      def destroy! = destroy || raise(NotSaved.new(self, "#{model} #{pk} was not destroyed: a callback has thrown :abort"))

      # Deletes the row, without callbacks. A missing row is no error.
      #
      # @return [self]
      # @asynchronous
      def delete
        _delete_without_checking unless new?
        @destroyed = true
        self
      end

      #
      # @param lock [Boolean, String] see {Relation::Selection#lock}
      # @return [self]
      # @raise [NotFound] if the row was deleted
      # @asynchronous
      def reload(lock: nil)
        _refresh(lock ? Relation.new(model, this).lock(lock).dataset : this)
        @saved_changes = @uncast = nil
        self
      rescue ::Sequel::NoExistingObject
        raise NotFound.new("#{model} #{pk.inspect} is gone", model: model)
      end

      # @return [self]
      # @raise [BadValue] if `by` is no number
      def increment(name, by = 1)
        tap { self[name] = (self[name] || 0) + model.addend(name, by) }
      end

      # @return [self]
      def decrement(name, by = 1) = increment(name, by.is_a?(Numeric) ? -by : by)

      # @return [self]
      def toggle(name) = tap { self[name] = !self[name] }

      # Increments in the database, so that no concurrent increment is lost.
      #
      # @return [self]
      # @asynchronous
      def increment!(name, by = 1, touch: false)
        increment(name, by)
        stamps = touch ? _touched(touch) : {}
        change = self[name] - (attribute_was(name) || 0) # including unsaved changes
        model.unscoped.where(pk_hash).update_all({name => ::Sequel.function(:coalesce, name.to_sym, 0) + change}.merge(stamps))
        [name.to_sym, *stamps.keys].each { |column| changed_columns.delete(column) && initial_values.delete(column) }
        @values.merge!(stamps)
        self
      end

      # @return [self]
      # @asynchronous
      def decrement!(name, by = 1, touch: false) = increment!(name, by.is_a?(Numeric) ? -by : by, touch: touch)

      # @return [Boolean]
      # @asynchronous
      def toggle!(name) = toggle(name).update_attribute(name, self[name])

      # Sets updated_at and the named columns to now, without validations.
      #
      # @return [Boolean]
      # @asynchronous
      def touch(*names, time: Time.now)
        raise NotSaved.new(self, "a new #{model} has no row to touch: save it first") unless persisted?
        columns = (model.update_timestamps + names.map(&:to_sym)).uniq
        before = columns.to_h { |name| [name, @values[name]] }
        model.db.transaction do
          _watch_transaction
          update_columns(columns.to_h { |name| [name, time] }) if columns.any?
          @saved_changes = before.to_h { |name, value| [name, [value, @values[name]]] }
          _note_write(:update)
          run_callbacks(:touch)
        end
        true
      end

      # Marks the object as read-only.
      #
      # @return [true]
      def readonly! = @readonly = true

      # @return [Boolean]
      def readonly? = @readonly || false

      # @return [Boolean]
      def new_record? = new?

      # @return [Boolean] whether this object was destroyed or deleted
      def destroyed? = @destroyed || false

      # @return [Boolean] whether it is in the database, as far as known
      def persisted? = !new? && !destroyed?

      # @return [Boolean] whether it was new before the last save
      def previously_new_record? = @previously_new || false

      # @return [String, nil] the primary key, for URLs
      def to_param = (persisted? && pk) ? Array(pk).join("-") : nil

      # @return [Array, nil]
      def to_key = pk ? Array(pk) : nil

      # @private
      # The row in the database, whose key may be about to change.
      def this
        before = initial_values.slice(*model.primary_key)
        before.empty? ? super : model.instance_dataset.where(pk_hash.merge(before))
      end

      # @private
      def after_update
        super
        @this = nil if initial_values.key?(model.primary_key)
      end

      # @return [Boolean] whether both are the same row
      def ==(other)
        equal?(other) || (other.instance_of?(self.class) && !new? && !other.new? && !pk.nil? && pk == other.pk)
      end
      alias_method :eql?, :==

      # @return [Integer]
      def hash = (new? || pk.nil?) ? object_id.hash : [self.class, pk].hash

      # @return [Integer, nil] by the primary key
      def <=>(other) = other.is_a?(self.class) ? pk <=> other.pk : super

      # @return [Model] new, with the same attributes except the key and timestamps
      def dup
        left_out = [*model.primary_key, *model.create_timestamps]
        model.new(@values.except(*left_out))
      end

      private

      def _write(validate:, touch:, context: nil)
        _refuse_readonly
        @touch = touch
        @validation_context_given = context
        was_new = new?
        saved = _save_row(changed: true, raise_on_failure: false, validate: validate)
        @previously_new = was_new if saved
        saved
      rescue ::Sequel::NoExistingObject
        raise Stale, self
      end

      def _refuse_unknown(name)
        raise ActiveModel::MissingAttributeError, "#{model} has no attribute #{name.inspect}" unless model.db_schema.key?(name)
      end

      def _refuse_readonly = readonly? && raise(ReadOnly.new(self, "#{model} #{pk} is marked as readonly"))

      def _touched(names) = (model.update_timestamps + ((names == true) ? [] : Array(names))).to_h { |name| [name, Time.now] }

      def validation_failed_error = Invalid.new(self)
    end
  end
end
