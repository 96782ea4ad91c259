# frozen_string_literal: true

module Pelton
  module Record
    # The class methods that begin a query: each is the {Relation}'s own, on all rows.
    module Querying
      NAMES = %i[
        where not or rewhere excluding without order reorder in_order_of reverse_order limit offset select reselect distinct joins left_joins left_outer_joins
        includes preload eager_load references extract_associated group regroup having none lock readonly annotate from unscope with merge extending
        count sum average minimum maximum calculate pluck pick ids exists? any? none? empty? many? one?
        find_by! find_signed find_signed! find_sole_by first first! last last! take take! second second! third third! fourth fourth! fifth fifth! forty_two
        second_to_last third_to_last sole delete_by destroy_by find_each find_in_batches in_batches each map page keyset
        find_or_create_by find_or_create_by! find_or_initialize_by create_or_find_by create_or_find_by! create_with
        first_or_create first_or_create! first_or_initialize
        update_all delete_all destroy_all insert insert! insert_all insert_all! upsert upsert_all touch_all
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

      # Objects from SQL with bound values.
      #
      # @example User.find_by_sql(["SELECT * FROM users WHERE name = ?", name])
      # @param sql [String, Array, Sequel::Dataset]
      # @return [Array<Model>]
      # @asynchronous
      def find_by_sql(sql) = with_sql(sql).all

      # @param sql [String, Array] one value, such as a count
      # @return [Integer]
      # @asynchronous
      def count_by_sql(sql) = with_sql(sql).naked.single_value.to_i

      # SQL with values, for a part of a query that takes text alone.
      #
      # @example sanitize_sql(["name = ?", name]) # => "name = 'O''Neil'"
      # @param condition [String, Array, Hash]
      # @return [String]
      def sanitize_sql(condition)
        return condition if condition.is_a?(String)
        rows = dataset.respond_to?(:no_auto_parameterize) ? dataset.no_auto_parameterize : dataset
        text = rows.literal(Relation::Condition.of(unscoped, condition))
        condition.is_a?(Array) ? text.delete_prefix("(").delete_suffix(")") : text
      end
      alias_method :sanitize_sql_array, :sanitize_sql
      alias_method :sanitize_sql_for_conditions, :sanitize_sql

      # A text from outside for LIKE: its % and _ stand for themselves.
      #
      # @example where("name LIKE ?", "#{sanitize_sql_like(text)}%")
      # @return [String]
      def sanitize_sql_like(text, escape = "\\")
        text.gsub(/#{Regexp.union(escape, "%", "_")}/) { |found| escape + found }
      end

      # @return [Relation] all rows; those of the default scope if there is one
      def relation
        current = @scoping && @scoping[Fiber.current] and return current
        default_scoped
      end

      # @return [Relation] the rows that the default scope leaves, inside of {Relation#scoping} as well
      def default_scoped = default_scopes.inject(Relation.new(self, dataset)) { |found, body| found.instance_exec(&body) || found }

      # @private
      # @param rows [Sequel::Dataset] of an association
      # @return [Sequel::Dataset] those that the default scope leaves; all in a block of {#unscoped}
      def associated_rows(rows)
        return rows if default_scopes.empty? || @scoping&.[](Fiber.current)&.dataset.equal?(dataset)
        default_scopes.inject(Relation.new(self, rows)) { |found, body| found.instance_exec(&body) || found }.dataset
      end

      # @yield with this relation in the place of all rows
      # @return [Relation, Object] all rows, whatever the default scope says; the block's value
      def unscoped(&block) = Relation.new(self, dataset).then { |all| block ? scoping(all, &block) : all }

      # Names a query.
      #
      # @example scope :recent, ->(count = 5) { order(created_at: :desc).limit(count) }
      # @param name [Symbol]
      # @param body [Proc] its `self` is the relation
      # @yield in a module, for methods that this query has besides ({Relation::Extending#extending})
      # @return [Symbol]
      def scope(name, body, &block)
        raise ArgumentError, "a scope is named by a Proc: scope :#{name}, -> { where(...) }" unless body.is_a?(Proc)
        raise ArgumentError, "#{self}.#{name} is there already: give the scope another name" if taken?(name)
        extensions = block ? [Module.new(&block)] : []
        define_singleton_method(name) { |*args, **options| relation.then { |all| all.instance_exec(*args, **options, &body) || all }.extending(*extensions) }
        name
      end

      # Limits all queries of the model, but those of {#unscoped}.
      #
      # @param body [#call, nil] instead of the block
      # @yield with the relation as self
      # @return [nil]
      def default_scope(body = nil, &block)
        body ||= block
        raise ArgumentError, "default_scope needs a block: default_scope { where(...) }" unless body.is_a?(Proc)
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

      DYNAMIC = /\Afind_by_(?<names>\w+?)(?<bang>!)?\z/
      private_constant :DYNAMIC

      # find_by_name("Ann"), find_by_name_and_age!("Ann", 20): for applications that have them.
      def method_missing(name, *values)
        columns = columns_of_finder(name) or return super
        raise ArgumentError, "#{name} takes #{columns.size} values, not #{values.size}" unless columns.size == values.size
        public_send(name.end_with?("!") ? :find_by! : :find_by, columns.zip(values).to_h)
      end

      # @private
      def respond_to_missing?(name, include_all = false) = !columns_of_finder(name).nil? || super

      # @private
      # Whether a key alone decides which row is found.
      def unscoped? = (!@scoping || @scoping.empty?) && default_scopes.empty?

      private

      # The values of an Array are those of its placeholders.
      def with_sql(sql)
        sql = Relation::Condition.of_text(sql.first, sql.drop(1), parentheses: false) if sql.is_a?(Array)
        dataset.with_sql(sql)
      end

      # What every object has, such as Kernel#open, is no obstacle.
      def taken?(name)
        respond_to?(name, true) && !(Object.respond_to?(name, true) && Object.method(name).owner == method(name).owner)
      end

      def columns_of_finder(name)
        match = DYNAMIC.match(name) or return
        columns = match[:names].split("_and_").map { |one| column_alias(one.to_sym) }
        columns if !abstract_class? && columns.all? { |one| db_schema.key?(one) }
      end
    end
  end
end
