# frozen_string_literal: true

module Pelton
  module Record
    # The class methods that begin a query: each is the {Relation}'s own, on all rows.
    module Querying
      NAMES = %i[
        where not or rewhere order reorder reverse_order limit offset select reselect distinct joins left_joins left_outer_joins includes preload eager_load
        group having none lock from unscope with_cte merge
        count sum average minimum maximum pluck pick ids exists? any? none? empty? many? one?
        find_by find_by! first first! last last! take take! second sole delete_by destroy_by
        find_each find_in_batches in_batches each map
        find_or_create_by find_or_create_by! find_or_initialize_by create_or_find_by
        update_all delete_all destroy_all insert insert_all insert_all! upsert upsert_all touch_all update_counters
      ].freeze
      private_constant :NAMES

      NAMES.each do |name|
        class_eval(<<~RUBY, __FILE__, __LINE__ + 1)
          def #{name}(...) = relation.#{name}(...)
        RUBY
      end

      # All rows. The options are those of the finders of old.
      #
      # @example
      #   User.all
      #   User.all(limit: 5, order: :name, conditions: {active: true})
      #   User.all(limit: 5) { |users| ... } # callback style
      # @param options [Hash] conditions:, order:, limit:, offset:, select:, joins:, include:, group:
      # @yieldparam records [Array<Model>]
      # @return [Relation, Operation] the Operation with a block
      # @asynchronous with a block never; otherwise when the relation is read
      def all(options = nil, **keywords, &block)
        found = relation.apply(**(options || {}), **keywords)
        block ? Styles.defer(block) { found.to_a } : found
      end

      # The object with this primary key, or the objects with these.
      #
      # @return [Model, Array<Model>] an Array for several keys or an Array of them, in the order of the keys
      # @raise [NotFound]
      # @asynchronous
      def find(*ids, &block) = relation.find(*ids, &block)

      # Objects from SQL with bound values.
      #
      # @example User.find_by_sql(["SELECT * FROM users WHERE name = ?", name])
      # @param sql [String, Array, Sequel::Dataset]
      # @return [Array<Model>]
      # @asynchronous
      def find_by_sql(sql) = dataset.with_sql(*sql).all

      # @return [Relation] all rows; those of the default scope if there is one
      def relation
        current = @scoping && @scoping[Fiber.current] and return current
        found = Relation.new(self, dataset)
        default_scopes.empty? ? found : default_scopes.inject(found) { |scoped, body| scoped.instance_exec(&body) || scoped }
      end

      # @return [Relation] all rows, whatever the default scope says
      def unscoped = Relation.new(self, dataset)

      # Names a query.
      #
      # @example scope :recent, ->(count = 5) { order(created_at: :desc).limit(count) }
      # @param name [Symbol]
      # @param body [Proc] its `self` is the relation
      # @return [Symbol]
      def scope(name, body)
        raise ArgumentError, "a scope is named by a Proc: scope :#{name}, -> { where(...) }" unless body.is_a?(Proc)
        raise ArgumentError, "#{self}.#{name} is there already: give the scope another name" if respond_to?(name, true)
        define_singleton_method(name) { |*args, **options| relation.then { |all| all.instance_exec(*args, **options, &body) || all } }
        name
      end

      # Limits all queries of the model, but those of {#unscoped}.
      #
      # @yield with the relation as self
      # @return [nil]
      def default_scope(&body)
        raise ArgumentError, "default_scope needs a block: default_scope { where(...) }" unless body
        @default_scopes = default_scopes + [body]
        nil
      end

      # @private
      def default_scopes = @default_scopes || (superclass.respond_to?(:default_scopes) ? superclass.default_scopes : [])

      # @private
      # Calls the block with that relation in the place of all rows, on this fiber.
      def scoping(relation)
        scoping = (@scoping ||= {}.compare_by_identity)
        before = scoping[Fiber.current]
        scoping[Fiber.current] = relation
        yield
      ensure
        before ? scoping[Fiber.current] = before : scoping.delete(Fiber.current)
      end

      # @private
      # Whether a key alone decides which row is found.
      def unscoped? = (!@scoping || @scoping.empty?) && default_scopes.empty?
    end
  end
end
