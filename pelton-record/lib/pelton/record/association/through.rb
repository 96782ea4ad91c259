# frozen_string_literal: true

module Pelton
  module Record
    module Association
      # has_many and has_one `through:` another association, which may go through others itself: Sequel's many_to_many over one table, or
      # many_through_many over several. They are defined when they are first used, since the association there may belong to a class that
      # is not loaded yet.
      module Through
        # A step from one table to the next: `column` of the one is `key` of `table`. `conditions` are about the one that it leads to,
        # `block` is what else limits it.
        Step = Struct.new(:column, :table, :key, :conditions, :block)

        class << self
          # @private
          # @return [Array<Step>] the steps of an association
          def steps(reflection, source_type = nil)
            case reflection[:type]
            when :many_to_one then [parent_step(reflection, source_type)]
            when :one_to_many, :one_to_one
              [Step.new(reflection[:primary_key], reflection.associated_class.table_name, reflection[:key], reflection[:conditions], limits(reflection))]
            when :many_to_many, :one_through_one
              [Step.new(reflection[:left_primary_key], reflection[:join_table], reflection[:left_key]),
                Step.new(reflection[:right_key], reflection.associated_class.table_name, reflection.right_primary_key, nil, limits(reflection))]
            else
              tables = reflection[:through]
              columns = [reflection[:left_primary_key], *tables.map { |one| one[:right] }]
              keys = [*tables.map { |one| [one[:table], one[:left], one[:conditions]] }, [reflection.associated_class.table_name, reflection.right_primary_key]]
              columns.zip(keys).map { |column, (table, key, conditions)| Step.new(column, table, key, conditions) }.tap { |found| found.last.block = limits(reflection) }
            end
          end

          private

          def parent_step(reflection, source_type)
            other = reflection[:polymorphic] ? Polymorphic.model_of(source_type.to_s) : reflection.associated_class
            Step.new(reflection[:key], other.table_name, reflection[:polymorphic] ? other.primary_key : reflection.primary_key, nil, (limits(reflection) unless reflection[:polymorphic]))
          end

          # The association's own scope, and the class's.
          def limits(reflection)
            other = reflection.associated_class
            rows = other.default_scopes.empty? ? other.dataset : other.relation.dataset
            rows = reflection[:block].call(rows) if reflection[:block]
            rows.opts[:where]
          end
        end

        private

        def has_through(type, name, scope, **path)
          (@through ||= {})[name] = [type, scope, path]
          if type == :many_to_many
            define_collection(name)
          else
            overridable_methods_module.define_method(name) { |*| load_associated_objects(model.association_reflection(name)) }
          end
        end

        def define_through(name)
          type, scope, path = @through&.delete(name)
          return unless type
          by = association_reflection(path[:through]) || raise(ArgumentError, "#{self}.#{name}: there is no association #{path[:through].inspect} to go through")
          source = source_of(name, by, path)
          steps = Through.steps(by) + Through.steps(source, path[:source_type])
          steps[-2].conditions = steps[-2].conditions.to_h.merge(source[:polymorphic] => path[:source_type].to_s) if source[:polymorphic]
          options = {via: path[:through], source: source[:name], scope: scope, no_association_method: true, class: path[:source_type] || source.associated_class, read_only: true,
                     **path.slice(:validated, :extensions)}
          associate_through(type, name, steps, scoped(scope), (source[:block] unless source[:polymorphic]), **options)
          association_reflections[name]
        end

        def source_of(name, by, path)
          middle = by.associated_class
          [path[:source], name, name.to_s.singularize.to_sym].compact.filter_map { |one| middle.association_reflection(one) }.first ||
            raise(ArgumentError, "#{self}.#{name}: #{middle} has no association #{path[:source] || name}. Name it by source:")
        end

        def associate_through(type, name, steps, scope, ordered, **options)
          first, *middle, last = steps
          limit = conditions(first, *middle, Step.new(nil, last.table, nil, last.conditions))
          blocks = [ordered, scope].compact
          block = ->(rows) { blocks.inject(limit ? rows.where(limit) : rows) { |found, one| one.call(found) } }
          # Joins have the conditions that are Hashes; what else limits the rows on the way cannot be said there.
          options[:graph_use_association_block] = limit.nil?
          options[:graph_conditions] = last.conditions.to_a
          options[:allow_eager_graph] = [first, *middle].none?(&:block) && (limit.nil? || blocks.empty?)
          tables = steps.each_cons(2).map { |one, following| {table: one.table, left: one.key, right: following.column, conditions: one.conditions.to_a} }
          keys = {left_primary_key: first.column, right_primary_key: last.key}
          if middle.empty?
            associate(type, name, join_table: first.table, left_key: first.key, right_key: last.column, graph_join_table_conditions: first.conditions.to_a, **keys, **options, &block)
          else
            associate((type == :many_to_many) ? :many_through_many : :one_through_many, name, through: tables, **keys, **options, &block)
          end
        end

        # What rows on the way must be, besides having the keys.
        def conditions(*steps)
          parts = steps.flat_map { |step| [step.conditions&.to_h&.transform_keys { |name| Sequel.qualify(step.table, name) }.presence, step.block] }.compact
          Sequel.&(*parts) if parts.any?
        end
      end
    end
  end
end
