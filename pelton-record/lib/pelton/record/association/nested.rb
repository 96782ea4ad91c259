# frozen_string_literal: true

module Pelton
  module Record
    module Association
      # Associated objects that are validated and saved with their owner (`autosave: true`), and assigned with it
      # (`accepts_nested_attributes_for`).
      module Nested
        # Class methods.
        module ClassMethods
          # Defines `NAME_attributes=`, which updates, builds and destroys associated objects.
          #
          # @example
          #   accepts_nested_attributes_for :posts, allow_destroy: true, reject_if: :all_blank
          #   author.update(posts_attributes: [{id: 1, title: "New"}, {title: "Another"}, {id: 2, _destroy: true}])
          # @param names [Array<Symbol>] associations
          # @param allow_destroy [Boolean] whether `_destroy: true` destroys an object
          # @param reject_if [Symbol, Proc, nil] which attributes to ignore: :all_blank, a method, or a block that gets them
          # @param limit [Integer, nil] maximum number of objects at once
          # @param update_only [Boolean] for belongs_to and has_one: whether to update the existing object, whatever the id
          # @return [nil]
          def accepts_nested_attributes_for(*names, allow_destroy: false, reject_if: nil, limit: nil, update_only: false)
            names.each do |name|
              autosave(name)
              settings = {allow_destroy: allow_destroy, reject_if: reject_if, limit: limit, update_only: update_only}
              overridable_methods_module.define_method(:"#{name}_attributes=") { |attributes| assign_nested(name, attributes, **settings) }
            end
            nil
          end

          # @private
          def autosave(name) = @autosaved = autosaved | [name.to_sym]
          # @private
          def autosaved = @autosaved || (superclass.respond_to?(:autosaved) ? superclass.autosaved : [])
        end

        # Marks the object to be destroyed when its owner is saved.
        #
        # @return [true]
        def mark_for_destruction = @marked_for_destruction = true

        # @return [Boolean]
        def marked_for_destruction? = @marked_for_destruction || false

        # @private
        def before_save
          _autosaved(:many_to_one) { |name, other| other.save(validate: !unvalidated?(name)) || cancel_action("#{other.class} is not saved") if other.persisted? && other.changed? }
          super
        end

        # @private
        def after_save
          super
          _autosaved(:one_to_many, :one_to_one, :many_to_many) do |name, other|
            if other.marked_for_destruction?
              other.destroy!
              drop_associated(name, other)
            elsif other.persisted? && (other.changed? || other.model.autosaved.any?)
              other.save(validate: !unvalidated?(name)) || raise(NotSaved, other)
            end
          end
        end

        private

        # Loaded objects of the associations with these types. Objects that save each other do so once.
        def _autosaved(*types)
          _once(:autosave) do
            model.autosaved.each do |name|
              types.include?(model.association_reflection(name)[:type]) && Array(associations[name]).dup.each { |other| yield name, other }
            end
          end
        end

        # Calls the block, unless a call for this object and purpose is running.
        def _once(purpose)
          return if (@doing ||= []).include?(purpose)
          @doing << purpose
          begin
            yield
          ensure
            @doing.delete(purpose)
          end
        end

        def drop_associated(name, other)
          associations[name].is_a?(Array) ? associations[name].delete(other) : associations.delete(name)
        end

        # @return [Boolean] whether the object is valid; if not, this one gets its errors
        def valid_nested?(name, other)
          return true if other.marked_for_destruction? || other.valid?
          other.errors.each { |error| errors.import(error, attribute: :"#{name}.#{error.attribute}") unless error.attribute == reciprocal_of(name) && new? }
          false
        end

        def reciprocal_of(name) = model.association_reflection(name).reciprocal

        def assign_nested(name, attributes, limit:, **settings)
          return assign_nested_one(name, attributes, **settings) unless model.association_reflection(name).returns_array?
          list = if attributes.is_a?(Array)
            attributes
          else
            attributes.to_h.then { |one| (one.key?("id") || one.key?(:id)) ? [one] : one.values }
          end
          raise ArgumentError, "#{model} takes #{limit} #{name} at once, not #{list.size}" if limit && list.size > limit
          list.each { |one| assign_nested_in(_collection(name), name, one, **settings) }
        end

        def assign_nested_in(found, name, attributes, allow_destroy:, reject_if:, **)
          id, destroy, rest = split_nested(attributes)
          return (found.build(rest) unless destroy || rejected?(attributes, reject_if)) if id.blank?
          other = found.records.find { |one| one.pk.to_s == id.to_s } || nested_missing(name, id)
          update_nested(other, rest, destroy && allow_destroy) unless rejected?(attributes, reject_if)
        end

        def assign_nested_one(name, attributes, allow_destroy:, reject_if:, update_only:)
          id, destroy, rest = split_nested(attributes)
          other = public_send(name)
          if other && (update_only || (id.present? && other.pk.to_s == id.to_s))
            update_nested(other, rest, destroy && allow_destroy) unless rejected?(attributes, reject_if)
          elsif id.present?
            nested_missing(name, id)
          elsif !destroy && !rejected?(attributes, reject_if)
            other&.new? ? other.assign_attributes(rest) : public_send(:"build_#{name}", rest)
          end
        end

        def update_nested(other, attributes, destroy) = destroy ? other.mark_for_destruction : other.assign_attributes(attributes)

        # An object with `permitted?` must stay one.
        def split_nested(attributes)
          id, destroy = %w[id _destroy].map { |key| attributes[key] || attributes[key.to_sym] }
          [id, ActiveModel::Type::Boolean.new.cast(destroy), attributes.except("id", :id, "_destroy", :_destroy)]
        end

        def rejected?(attributes, by)
          given = attributes.to_h.with_indifferent_access
          case by
          when nil then false
          when :all_blank then given.except(:_destroy).values.all?(&:blank?)
          when Symbol then send(by, given)
          else by.call(given)
          end
        end

        def nested_missing(name, id)
          other = model.association_reflection(name).associated_class
          raise NotFound.new("#{model} #{pk.inspect} has no #{other} with the id #{id.inspect}", model: other)
        end
      end
    end
  end
end
