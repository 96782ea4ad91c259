# frozen_string_literal: true

module Pelton
  module Record
    module Association
      # has_many and has_one `through:` another association, which may itself go through others: Sequel's many_to_many over one table, or
      # many_through_many over several. Defined on first use, since the association may belong to a class that is not loaded yet.
      module Through
        # A step from one table to the next: `column` of the first is `key` of `table`. `conditions` apply to the second, and so does `limit`.
        Step = Struct.new(:column, :table, :key, :conditions, :limit) do
          # @param name [Symbol] the table's name in the query
          # @return [Array<Sequel::SQL::Expression>] conditions on its rows besides the keys
          def expressions(name)
            [*(::Sequel.&(conditions.to_h.transform_keys { |column| ::Sequel.qualify(name, column) }) if conditions.present?), *limit&.on(name)]
          end
        end

        class << self
          # @private
          # @return [Array<Step>] the steps of an association
          def steps(reflection, source_type = nil)
            case reflection[:type]
            when :many_to_one then [parent_step(reflection, source_type)]
            when :one_to_many, :one_to_one
              [Step.new(reflection[:primary_key], reflection.associated_class.table_name, reflection[:key], reflection[:conditions], limit(reflection))]
            else
              before = reflection[:steps]&.map(&:dup)
              before ||= [Step.new(reflection[:left_primary_key], reflection[:join_table], reflection[:left_key]),
                Step.new(reflection[:right_key], reflection.associated_class.table_name, reflection.right_primary_key)]
              before.tap { |found| found.last.limit = limit(reflection) }
            end
          end

          # @private
          # @return [Array<Symbol>] names of the joined tables in the query
          def names(reflection)
            return [reflection.join_table_alias] unless reflection[:through]
            [reflection.final_reverse_edge, *reflection.reverse_edges.reverse].map { |edge| edge[:alias] }
          end

          private

          def parent_step(reflection, source_type)
            return Step.new(reflection[:key], reflection.associated_class.table_name, reflection.primary_key, nil, limit(reflection)) unless reflection[:polymorphic]
            other = Polymorphic.model_of(source_type.to_s)
            Step.new(reflection[:key], other.table_name, other.primary_key, nil, nil)
          end

          def limit(reflection) = (reflection.limit if reflection.limit.any?)
        end

        private

        def has_through(type, name, scope, **path)
          (@through ||= {})[name] = [type, scope, path]
          if type == :many_to_many
            define_collection(name)
          else
            overridable_methods_module.define_method(name) { |*| load_associated_objects(model.association_reflection(name)) }
            Single.define_reloading(self, name)
          end
        end

        def define_through(name)
          declared = @through&.fetch(name, nil)
          return if declared.nil? || defining_through.include?([self, name]) # it goes through itself
          begin
            defining_through.push([self, name])
            reflect_through(name, *declared)
          ensure
            defining_through.pop
          end
        end

        # Reading the tables' columns parks, and meanwhile other fibers may ask for the same association: each of them works it out, and the
        # first one defines it.
        def reflect_through(name, type, scope, path)
          by = association_reflection(path[:through]) || raise(ArgumentError, "#{self}.#{name}: there is no association #{path[:through].inspect} to go through")
          source = source_of(name, by, path)
          steps = Through.steps(by) + Through.steps(source, path[:source_type])
          steps[-2].conditions = steps[-2].conditions.to_h.merge(source[:polymorphic] => path[:source_type].to_s) if source[:polymorphic]
          options = {via: path[:through], source: source[:name], scope: scope, no_association_method: true, class: path[:source_type] || source.associated_class, read_only: true,
                     **path.slice(:validated)}
          return association_reflections[name] if association_reflections.key?(name)
          associate_through(type, name, steps, [*source[:scopes], *scoped(scope)], owner_scope: owner_scope?(scope), **options)
          @through.delete(name)
          association_reflections[name]
        end

        def defining_through = Thread.current[:pelton_record_through] ||= [] # a fiber-local

        def source_of(name, by, path)
          middle = by.associated_class
          [path[:source], name, name.to_s.singularize.to_sym].compact.filter_map { |one| middle.association_reflection(one) }.first ||
            raise(ArgumentError, "#{self}.#{name}: #{middle} has no association #{path[:source] || name}. Name it by source:")
        end

        def associate_through(type, name, steps, scopes, **options)
          first, *middle, last = steps
          way = [first, *middle]
          owner = self
          limited = way.any? { |step| step.limit || step.conditions.present? } || last.conditions.present?
          block = lambda do |rows|
            names = Through.names(owner.association_reflection(name))
            parts = way.zip(names).flat_map { |step, table| step.expressions(table) } + Step.new(nil, last.table, nil, last.conditions).expressions(last.table)
            scopes.inject(parts.empty? ? rows : rows.where(::Sequel.&(*parts))) { |found, one| instance_exec(found, &one) }
          end
          options[:graph_use_association_block] = true
          options[:graph_conditions] = last.conditions.to_a
          options[:scopes] = scopes
          options[:steps] = steps
          block = nil unless limited || scopes.any?
          keys = {left_primary_key: first.column, right_primary_key: last.key}
          if middle.empty? && first.table != last.table
            conditions = {graph_join_table_conditions: first.conditions.to_a, graph_join_table_block: graph_block(first)}.compact
            associate(type, name, join_table: first.table, left_key: first.key, right_key: last.column, **conditions, **keys, **options, &block)
          else
            tables = steps.each_cons(2).map { |one, following| {table: one.table, left: one.key, right: following.column, conditions: one.conditions.to_a, block: graph_block(one)}.compact }
            associate((type == :many_to_many) ? :many_through_many : :one_through_many, name, through: tables, **keys, **options, &block)
          end
        end

        # A join's conditions on its table besides a Hash.
        def graph_block(step) = (->(table, _, _) { step.limit.on(table) } if step.limit)
      end
    end
  end
end
