# frozen_string_literal: true

module Pelton
  module Record
    class Relation
      # New objects, with the attributes that the conditions name: where(city: "Rome").create(name: "Ann").
      module Creation
        # @return [Model] not saved
        def new(attributes = Sequel::OPTS, &block)
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
        def create(attributes = Sequel::OPTS, &block)
          return attributes.map { |one| create(one, &block) } if attributes.is_a?(Array)
          new(attributes, &block).tap(&:save)
        end

        # @param attributes [Hash, Array<Hash>]
        # @return [Model, Array<Model>]
        # @raise [Invalid, NotSaved]
        # @asynchronous
        def create!(attributes = Sequel::OPTS, &block)
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

        # @return [Model] created, or found where a unique index says that it is there
        # @asynchronous
        def create_or_find_by(attributes, &block) = created_once(attributes) { create(attributes, &block) }

        # @return [Model]
        # @raise [Invalid, NotSaved]
        # @asynchronous
        def create_or_find_by!(attributes, &block) = created_once(attributes) { create!(attributes, &block) }

        # What new objects get besides, while it is no condition.
        #
        # @example create_with(locked: false).find_or_create_by(name: "Ann")
        # @param attributes [Hash, nil]
        # @return [Relation]
        # @raise [ArgumentError] for anything else
        def create_with(attributes)
          raise ArgumentError, "create_with takes a Hash, not a #{attributes.class}" unless attributes.nil? || attributes.respond_to?(:to_hash)
          derived(dataset, given.merge(attributes || {}))
        end

        # @return [Model] found, or new
        # @asynchronous
        def find_or_initialize_by(attributes, &block) = find_by(attributes) || new(attributes, &block)

        private

        # Another may have created it in the meantime.
        def created_once(attributes, &block)
          model.db.transaction(savepoint: :only, &block)
        rescue Sequel::UniqueConstraintViolation
          find_by!(attributes)
        end
      end
    end
  end
end
