# frozen_string_literal: true

module Pelton
  module Record
    class Relation
      # Joins by associations, or by SQL.
      module Joins
        # Adds inner joins. A joined table keeps its name in the query, or gets the association's if that is taken.
        #
        # @example joins(:posts), joins(posts: :comments), joins("JOIN cities ON cities.id = users.city_id")
        # @param associations [Array<Symbol, Hash, String>] a String is SQL
        # @return [Relation]
        def joins(*associations) = join_by(:association_join, associations)

        # Adds left outer joins.
        #
        # @return [Relation]
        def left_joins(*associations) = join_by(:association_left_join, associations)

        # @private
        # The name of an association's table in a query.
        def self.alias_of(dataset, reflection)
          taken = [dataset.first_source_alias, *dataset.opts[:join]&.filter_map { |join| join.table_alias || join.table }]
          return reflection[:name] if taken.include?(reflection[:name])
          reflection.associated_class.table_name
        end

        # A join written in SQL.
        class Text < ::Sequel::SQL::Expression
          # @private
          attr_reader :table, :table_alias, :text

          # @param text [String]
          def initialize(text)
            @text = text
            freeze
          end

          # @private
          def to_s_append(_, sql) = sql << " " << @text
        end
        private_constant :Text

        private

        def join_by(how, associations)
          found = dataset
          associations.flatten.each do |association|
            found = association.is_a?(String) ? join_text(found, association) : found.public_send(how, *named(found, model, association))
          end
          derived((dataset.opts[:select] || found.opts[:select]&.any? { |one| one.is_a?(::Sequel::SQL::ColumnAll) }) ? found : found.select_all(found.first_source_alias))
        end

        def join_text(found, text) = found.clone(join: [*found.opts[:join], Text.new(text)])

        # The associations to join, with their tables' names.
        def named(found, owner, association)
          case association
          when Hash then association.map { |name, deeper| {named(found, owner, name).first => named(found, associated(owner, name), deeper)} }
          when Array then association.flat_map { |one| named(found, owner, one) }
          else
            reflection = owner.association_reflection(association.to_sym) || raise(ArgumentError, "#{owner} has no association #{association.inspect}")
            raise ArgumentError, "#{owner}.#{association} is polymorphic: its rows are in several tables" if reflection[:polymorphic]
            taken = [found.first_source_alias, *found.opts[:join]&.filter_map { |join| join.table_alias || join.table }]
            name = reflection.associated_class.table_name
            [taken.include?(name) ? reflection[:name] : ::Sequel.as(reflection[:name], name)]
          end
        end

        def associated(owner, name) = owner.association_reflection(name.to_sym).associated_class
      end
    end
  end
end
