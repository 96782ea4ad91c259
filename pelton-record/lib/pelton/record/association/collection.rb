# frozen_string_literal: true

module Pelton
  module Record
    module Association
      # The relation that `user.posts` returns: a query for the objects, or the loaded objects.
      class Collection < Relation
        # @private
        def initialize(owner, reflection) # rubocop:disable Lint/MissingSuper
          @owner = owner
          @reflection = reflection
          @model = reflection.associated_class
          @unsaved = []
          @held = [] # until the owner is saved
        end

        # @return [Sequel::Dataset]
        def dataset
          return model.dataset.extension(:null_dataset).nullify unless @owner.pk
          @owner.public_send(@reflection[:dataset_method])
        end

        # @return [Array<Model>]
        # @asynchronous
        def records
          target = @owner.new? ? (@owner.associations[name] ||= []) : @owner.send(:load_associated_objects, @reflection)
          return target if @unsaved.empty?
          target.concat(@unsaved - target)
          @unsaved.clear
          target
        end

        # @return [Boolean]
        def loaded? = @owner.new? || @owner.associations.key?(name)

        # @return [self]
        def reset
          @owner.associations.delete(name)
          @unsaved.clear
          self
        end

        # @return [self]
        # @asynchronous
        def reload = reset.load

        # @return [Integer]
        # @asynchronous
        def size
          return records.size if loaded?
          counter = Counting.column_of(@reflection)
          ((@owner[counter] if @owner.has_attribute?(counter)) || count(:all)) + @unsaved.size
        end

        # @return [Boolean]
        # @asynchronous
        def empty? = (loaded? || @unsaved.any?) ? records.empty? : super

        # @return [Model] unsaved; saved with the owner
        def new(attributes = ::Sequel::OPTS, &block)
          return attributes.map { |one| new(one, &block) } if attributes.is_a?(Array)
          model.new(given) { |record| record.assign_attributes(attributes) && block&.call(record) }.tap { |record| hold(record) }
        end
        alias_method :build, :new

        # Adds objects. Saves them if the owner is saved.
        #
        # @param records [Array<Model>]
        # @return [self, false] false if an object is invalid; then none is added
        # @asynchronous
        def <<(*records)
          records = records.flatten.each { |record| refuse(record) }
          return records.each { |record| hold(record) } && self if @owner.new?
          (@owner.model.db.transaction { records.all? { |record| add(record) } || raise(::Sequel::Rollback) }) ? self : false
        end
        alias_method :push, :<<
        alias_method :concat, :<<

        # @return [Model, Array<Model>]
        # @asynchronous
        def create(attributes = ::Sequel::OPTS, &block) = created(attributes, :create, block) { |record| record.save }

        # @return [Model, Array<Model>]
        # @raise [Invalid, NotSaved]
        # @asynchronous
        def create!(attributes = ::Sequel::OPTS, &block) = created(attributes, :create!, block) { |record| record.save! }

        # Removes objects: as `dependent:` says, they are deleted or destroyed, or lose the owner's key.
        #
        # @return [Array<Model>]
        # @asynchronous
        def delete(*records)
          records = records.flatten.map { |record| record.is_a?(model) ? record : find(record) }
          remove(records.select(&:persisted?))
          drop(records)
        end

        # @return [Array<Model>]
        # @asynchronous
        def destroy(*records)
          records = records.flatten.map { |record| record.is_a?(model) ? record : find(record) }
          joined? ? remove(records) : records.each(&:destroy)
          drop(records)
        end

        # Removes all objects, like {#delete}.
        #
        # @return [Array<Model>]
        # @asynchronous
        def clear = delete(*to_a) && self

        # Removes all objects by one statement, without callbacks. Their rows are deleted if `dependent:` is :destroy or :delete_all, and lose
        # their key otherwise. For `through:` and has_and_belongs_to_many, the rows of the join table are deleted.
        #
        # @param dependent [Symbol, nil] :delete_all or :nullify; by default as declared
        # @return [Integer] number of rows
        # @asynchronous
        def delete_all(dependent = @reflection[:dependent])
          count = joined? ? delete(*to_a).size : take_out(derived(dataset), dependent)
          reset
          count
        end

        # @return [Array<Model>]
        # @asynchronous
        def destroy_all = destroy(*to_a)

        # Replaces the owner's objects by these.
        #
        # @param records [Array<Model>]
        # @return [self]
        # @asynchronous
        def replace(records)
          records = records.to_a
          wrong = records.find { |record| !record.is_a?(model) }
          raise ArgumentError, "#{@owner.class}.#{name} holds objects of #{model}, not #{wrong.inspect}" if wrong
          gone = to_a - records
          @owner.model.db.transaction do
            delete(*gone) if gone.any?
            self.<<(*(records - to_a)) || raise(NotSaved.new(@owner, "#{@owner.class}.#{name}: an object is invalid"))
          end
          self
        end

        # @param ids [Array]
        # @asynchronous
        def ids=(ids)
          raise BadValue, "#{@owner.class}.#{name}: ids are an Array of keys, not a Hash" if ids.is_a?(Hash)
          replace(model.find(Array(ids).reject(&:blank?)))
        end

        # @return [Array]
        # @asynchronous
        def ids = loaded? ? records.map(&:pk) : super

        # @return [Boolean]
        # @asynchronous
        def include?(record) = loaded? ? records.include?(record) : super

        # @private
        # Called by Sequel's graph loader to remove duplicates.
        def uniq! = records.uniq!

        # @private
        # Saves new objects with the owner.
        def save_new
          pending = @held | (loaded? ? records.select(&:new?) : @unsaved)
          @held = []
          free = @reflection[:validated] == false
          validate = !(free && @owner.model.autosaved.include?(name))
          pending.each { |record| add(record, validate: validate) || free || raise(NotSaved, record) }
        end

        # @private
        def unsaved = loaded? ? records.select(&:new?) : @unsaved

        # @private
        # Attributes of new objects: the owner's key, and those of the association's scope.
        def given = own_columns.merge(@reflection.given(@owner))

        private

        def name = @reflection[:name]

        # Sets the objects' owner.
        def objects(rows)
          inverse = @reflection.reciprocal unless joined?
          super.each { |record| record.associations[inverse] = @owner if inverse }
        end

        def joined? = !@reflection[:join_table].nil? || !@reflection[:through].nil?

        # Columns that point to the owner.
        def own_columns
          return ::Sequel::OPTS if joined?
          keys = @reflection[:keys].zip(@reflection[:primary_keys].map { |key| @owner[key] }).to_h.compact
          @reflection[:as] ? keys.merge(@reflection[:conditions]) : keys
        end

        def hold(record)
          refuse(record)
          record.associations[@reflection.reciprocal] = @owner if !joined? && @reflection.reciprocal
          @held << record if @owner.new?
          loaded? ? (records << record unless records.include?(record)) : @unsaved << record
        end

        def refuse(record)
          raise ArgumentError, "#{@owner.class}.#{name} holds objects of #{model}, not #{record.inspect}" unless record.is_a?(model)
        end

        def created(attributes, method, block)
          return attributes.map { |one| public_send(method, one, &block) } if attributes.is_a?(Array)
          raise NotSaved.new(@owner, "#{@owner.class} is not saved yet: save it before its #{name}, or use build") if @owner.new?
          record = new(attributes, &block)
          record.class.db.transaction { yield(record) && joined? && join(record) }
          @unsaved.delete(record) if record.persisted?
          record
        end

        def add(record, validate: true)
          refuse(record)
          by = middle if via?
          own_columns.each { |column, value| record[column] = value }
          record.associations[@reflection.reciprocal] = @owner if !joined? && @reflection.reciprocal
          return false if (record.new? || record.changed?) && !record.save(validate: validate)
          join(record, by) if joined?
          @unsaved.delete(record)
          records << record if loaded? && !records.include?(record)
          true
        end

        def via? = !@reflection[:via].nil?

        # The row of the join table.
        def join(record, by = (middle if via?))
          return @owner.send(@reflection[:_add_method], record) unless by
          @owner._collection(by[:name]).create!(@reflection[:source] => record)
        end

        # The association of the join table.
        def middle
          by = @owner.class.association_reflection(@reflection[:via])
          return by if by[:type] == :one_to_many && by.associated_class.association_reflection(@reflection[:source])[:type] == :many_to_one
          raise ArgumentError, "#{@owner.class}.#{name} cannot be added to: it leads through #{by[:name]}, whose rows do not belong to both"
        end

        def remove(records)
          return if records.empty?
          if via?
            middle
            @owner._collection(@reflection[:via]).where(@reflection[:source] => records).destroy_all
          elsif joined?
            records.each { |record| @owner.send(@reflection[:_remove_method], record) }
          else
            remove_rows(records)
          end
        end

        def remove_rows(records)
          return records.each(&:destroy) if @reflection[:dependent] == :destroy
          take_out(where(model.primary_key => records.map(&:pk)), @reflection[:dependent])
        end

        def take_out(rows, dependent)
          count = %i[destroy delete_all].include?(dependent) ? rows.delete_all : rows.update_all(own_columns.transform_values { nil })
          Counting.forget(@owner, @reflection, count)
          count
        end

        def drop(records)
          @unsaved -= records
          @held -= records
          @owner.associations[name]&.delete_if { |record| records.include?(record) }
          records
        end
      end
    end
  end
end
