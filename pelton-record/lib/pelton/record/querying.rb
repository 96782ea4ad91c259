# frozen_string_literal: true

module Pelton
  module Record
    # Class methods that begin a query: each is {Relation}'s, on all rows.
    module Querying
      NAMES = %i[
        where not or rewhere excluding without order reorder reverse_order limit offset select distinct joins left_joins
        includes preload eager_load references group having none lock readonly from unscope merge
        count sum average minimum maximum pluck pick ids exists? any? none? empty? many? one?
        find_by! first first! last last! take take! second sole find_each find_in_batches in_batches each map page keyset
        find_or_create_by find_or_create_by! find_or_initialize_by create_or_find_by create_or_find_by! create_with
        update_all delete_all destroy_all insert_all insert_all! upsert_all touch_all
      ].freeze
      private_constant :NAMES

      NAMES.each do |name|
        class_eval(<<~RUBY, __FILE__, __LINE__ + 1)
          def #{name}(...) = relation.#{name}(...)
        RUBY
      end

      # Returns objects from SQL with bound values.
      #
      # @example User.find_by_sql(["SELECT * FROM users WHERE name = ?", name])
      # @param sql [String, Array, Sequel::Dataset]
      # @return [Array<Model>]
      # @asynchronous
      def find_by_sql(sql) = dataset.with_sql(sql.is_a?(Array) ? Relation::Condition.of_text(sql.first, sql.drop(1), parentheses: false) : sql).all

      # Escapes % and _ in user text for LIKE.
      #
      # @example where("name LIKE ?", "#{sanitize_sql_like(text)}%")
      # @return [String]
      def sanitize_sql_like(text, escape = "\\")
        text.gsub(/#{Regexp.union(escape, "%", "_")}/) { |found| escape + found }
      end

      # @return [Relation] all rows, or those of the default scope
      def relation
        current = @scoping && @scoping[Fiber.current] and return current
        default_scoped
      end
      alias_method :all, :relation

      # @return [Relation] the default scope's rows, even inside of {Relation#scoping}
      def default_scoped = default_scopes.inject(Relation.new(self, dataset)) { |found, body| found.instance_exec(&body) || found }

      # @private
      # @param rows [Sequel::Dataset] an association's rows
      # @return [Sequel::Dataset] with the default scope; all in a block of {#unscoped}
      def associated_rows(rows)
        return rows if default_scopes.empty? || @scoping&.[](Fiber.current)&.dataset.equal?(dataset)
        default_scopes.inject(Relation.new(self, rows)) { |found, body| found.instance_exec(&body) || found }.dataset
      end

      # @yield with all rows, whatever the default scope
      # @return [Relation, Object] all rows, or the block's value
      def unscoped(&block) = Relation.new(self, dataset).then { |all| block ? scoping(all, &block) : all }

      # Names a query.
      #
      # @example scope :recent, ->(count = 5) { order(created_at: :desc).limit(count) }
      # @param name [Symbol]
      # @param body [Proc] its `self` is the relation
      # @return [Symbol]
      def scope(name, body)
        raise ArgumentError, "a scope is named by a Proc: scope :#{name}, -> { where(...) }" unless body.is_a?(Proc)
        raise ArgumentError, "scope :#{name} takes no block: a class method of #{self} is a method of its relations, too" if block_given?
        raise ArgumentError, "#{self}.#{name} is there already: give the scope another name" if taken?(name)
        define_singleton_method(name) { |*args, **options| relation.then { |all| all.instance_exec(*args, **options, &body) || all } }
        name
      end

      # Limits all queries of the model, except {#unscoped} ones.
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
      def default_scopes = @default_scopes || superclass.default_scopes

      # @private
      # Calls the block with the relation as all rows, on this fiber.
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

      private

      # Methods of every object, such as Kernel#open, may be redefined.
      def taken?(name)
        respond_to?(name, true) && !(Object.respond_to?(name, true) && Object.method(name).owner == method(name).owner)
      end
    end
  end
end
