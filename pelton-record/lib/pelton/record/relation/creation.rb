# frozen_string_literal: true

module Pelton
  module Record
    class Relation
      # Creates objects with the conditions' attributes: where(city: "Rome").create(name: "Ann").
      module Creation
        # @return [Model] unsaved
        def new(attributes = ::Sequel::OPTS, &block)
          return model.new(attributes, &block) if given.empty?
          model.new(given) do |record|
            record.assign_attributes(attributes)
            yield record if block
          end
        end
        alias_method :build, :new

        # @param attributes [Hash, Array<Hash>]
        # @return [Model, Array<Model>] saved, unless it is invalid
        # @asynchronous
        def create(attributes = ::Sequel::OPTS, &block)
          return attributes.map { |one| create(one, &block) } if attributes.is_a?(Array)
          new(attributes, &block).tap(&:save)
        end

        # @param attributes [Hash, Array<Hash>]
        # @return [Model, Array<Model>]
        # @raise [Invalid, NotSaved]
        # @asynchronous
        def create!(attributes = ::Sequel::OPTS, &block)
          return attributes.map { |one| create!(one, &block) } if attributes.is_a?(Array)
          new(attributes, &block).tap(&:save!)
        end

        # @return [Model] found, or created
        # @asynchronous
        def find_or_create_by(attributes, &block) = find_by(attributes) || created_once(attributes) { create(attributes, &block) }

        # @return [Model]
        # @raise [Invalid, NotSaved]
        # @asynchronous
        def find_or_create_by!(attributes, &block) = find_by(attributes) || created_once(attributes) { create!(attributes, &block) }

        # @return [Model] created, or found if a unique index has it already
        # @asynchronous
        def create_or_find_by(attributes, &block) = created_once(attributes) { create(attributes, &block) }

        # @return [Model]
        # @raise [Invalid, NotSaved]
        # @asynchronous
        def create_or_find_by!(attributes, &block) = created_once(attributes) { create!(attributes, &block) }

        # Sets attributes of new objects that are no conditions.
        #
        # @example create_with(locked: false).find_or_create_by(name: "Ann")
        # @param attributes [Hash, nil]
        # @return [Relation]
        # @raise [ArgumentError] if it is neither a Hash nor nil
        def create_with(attributes)
          raise ArgumentError, "create_with takes a Hash, not a #{attributes.class}" unless attributes.nil? || attributes.respond_to?(:to_hash)
          derived(dataset, given.merge(attributes || {}))
        end

        # @return [Model] found, or new
        # @asynchronous
        def find_or_initialize_by(attributes, &block) = find_by(attributes) || new(attributes, &block)

        private

        # Another process may have created it meanwhile.
        def created_once(attributes, &block)
          model.db.transaction(savepoint: :only, &block)
        rescue ::Sequel::UniqueConstraintViolation
          find_by!(attributes)
        end
      end
    end
  end
end
