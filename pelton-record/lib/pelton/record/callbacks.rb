# frozen_string_literal: true

module Pelton
  module Record
    # ActiveModel's callbacks, called by Sequel's hooks: before_, after_ and around_ of validation, save, create, update and destroy;
    # after_initialize, after_find, after_touch, after_commit, after_rollback. `throw :abort` in a before callback stops the operation.
    module Callbacks
      # @private
      def self.included(model)
        model.extend(ActiveModel::Callbacks)
        model.define_model_callbacks(:save, :create, :update, :destroy)
        model.define_model_callbacks(:initialize, :find, :touch, :commit, :rollback, only: :after)
        model.singleton_class.prepend(ClassMethods) # before the methods of define_model_callbacks
        model.include(Hooks)
      end

      # after_commit and after_rollback.
      module ClassMethods
        # @example after_commit :announce, on: :create
        # @param on [Symbol, Array<Symbol>, nil] :create, :update, :destroy
        # @return [nil]
        def after_commit(*names, on: nil, **options, &block) = super(*names, **written(on, options), &block)

        # @return [nil]
        def after_rollback(*names, on: nil, **options, &block) = super(*names, **written(on, options), &block)

        %i[create update destroy].each do |event|
          define_method(:"after_#{event}_commit") { |*names, **options, &block| after_commit(*names, on: event, **options, &block) }
        end

        # @return [nil]
        def after_save_commit(*names, **options, &block) = after_commit(*names, on: %i[create update], **options, &block)

        # @private
        def call(values)
          record = super
          unless __callbacks[:find].empty? && __callbacks[:initialize].empty?
            record.run_callbacks(:find)
            record.run_callbacks(:initialize)
          end
          record
        end

        private

        def written(events, options)
          return options unless events
          events = Array(events)
          options.merge(if: [*options[:if], ->(record) { record.written_by?(events) }])
        end
      end

      # Sequel's hooks.
      module Hooks
        # @private
        def initialize(...)
          super
          run_callbacks(:initialize)
        end

        # @private
        def around_save
          _watch_transaction
          super { run_callbacks(:save) { yield } }
        end

        # @private
        def around_create
          super { run_callbacks(:create) { yield } }
        end

        # @private
        def around_update
          super { run_callbacks(:update) { yield } }
        end

        # @private
        def around_destroy
          _watch_transaction
          super { run_callbacks(:destroy) { yield } }
        end
      end
    end
  end
end
