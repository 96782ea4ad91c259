# frozen_string_literal: true

module Pelton
  module Record
    module Association
      # belongs_to with `polymorphic: true`: a column names the other object's class.
      module Polymorphic
        class << self
          # @return [Hash] options of Sequel's many_to_one
          def options(name, key, type)
            {
              polymorphic: type, reciprocal: nil, allow_eager_graph: false, many_to_one_pk_lookup: false,
              dataset: -> { (owner = Polymorphic.model_of(self[type])) ? owner.associated_rows(owner.dataset).where(owner.primary_key => self[key]) : raise(Error, "#{model}.#{name} is nil") },
              setter: ->(other) { set_parent_columns(type => other&.class&.polymorphic_name, key => other&.pk) },
              eager_loader: ->(loading) { Polymorphic.load(loading[:rows], name, key, type) }
            }
          end

          # @return [Hash] options of Sequel's one_to_many
          def owner_options(model, name)
            type = :"#{name}_type"
            {key: :"#{name}_id", conditions: {type => model.polymorphic_name}, reciprocal: name, as: type}
          end

          # Sends one query per class.
          def load(rows, name, key, type)
            rows.each { |row| row.associations[name] = nil }
            rows.group_by { |row| row[type] }.each do |class_name, same|
              model = model_of(class_name) or next
              found = Relation.new(model, model.associated_rows(model.dataset).unlimited).where(model.primary_key => same.map { |row| row[key] }.uniq).to_a.to_h { |record| [record.pk, record] }
              same.each { |row| row.associations[name] = found[row[key]] }
            end
          end

          # @param name [String, nil] from the database; only models' names are accepted
          def model_of(name)
            return if name.nil?
            model = name.safe_constantize
            return model if model.is_a?(Class) && model < Model
            raise Error, "#{name.inspect} is no model"
          end
        end
      end
    end
  end
end
