# frozen_string_literal: true

module Pelton
  module Record
    module Association
      # has_many and has_one `through:` another association: Sequel's many_to_many over that one's table. They are defined when they are
      # first used, since the association there may belong to a class that is not loaded yet.
      module Through
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
          middle = by.associated_class
          source = [path[:source], name, name.to_s.singularize.to_sym].compact.filter_map { |one| middle.association_reflection(one) }.first
          raise ArgumentError, "#{self}.#{name}: #{middle} has no association #{path[:source] || name}. Name it by source:" unless source
          condition = conditions(by, middle, source, path[:source_type])
          scope = scoped(scope)
          block = (condition || scope) && ->(rows) { (condition ? rows.where(condition) : rows).then { |found| scope ? scope.call(found) : found } }
          associate(type, name, through: path[:through], source: source[:name], no_association_method: true,
            class: path[:source_type] || source.associated_class, join_table: middle.table_name, **keys(by, middle, source),
            graph_use_association_block: condition.nil?, read_only: true, &block)
          association_reflections[name]
        end

        # The columns that lead from this table to the middle one, and from there to the other.
        def keys(by, middle, source)
          left = (by[:type] == :many_to_one) ? {left_key: by.primary_key, left_primary_key: by[:key]} : {left_key: by[:key], left_primary_key: by[:primary_key]}
          raise ArgumentError, "#{self}: an association through #{by[:name]}, which goes through another one itself, is not supported. Join them: joins(...)" if by[:join_table]
          raise ArgumentError, "#{self}: the source #{source[:name]} goes through another association itself, which is not supported. Join them: joins(...)" if source[:join_table]
          right = if source[:type] == :many_to_one
            {right_key: source[:key], **(source[:polymorphic] ? {} : {right_primary_key: source.primary_key})}
          else
            {right_key: source[:primary_key], right_primary_key: source[:key]}
          end
          left.merge(right)
        end

        # What rows in the middle must be, besides having the keys.
        def conditions(by, middle, source, source_type)
          parts = []
          parts << by[:conditions].transform_keys { |name| Sequel.qualify(middle.table_name, name) } if by[:conditions]
          parts << {Sequel.qualify(middle.table_name, source[:polymorphic]) => source_type.to_s} if source[:polymorphic]
          parts << by[:block].call(middle.dataset).opts[:where] if by[:block]
          parts << source[:block].call(source.associated_class.dataset).opts[:where] if source[:block] && !source[:polymorphic]
          parts.compact!
          Sequel.&(*parts) if parts.any?
        end
      end
    end
  end
end
