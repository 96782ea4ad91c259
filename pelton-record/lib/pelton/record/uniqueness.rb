# frozen_string_literal: true

module Pelton
  module Record
    # Validates that no other row has the value: `validates :email, uniqueness: {scope: :account_id}`. Concurrent saves may still both pass, so
    # add a unique index.
    class Uniqueness < ActiveModel::EachValidator
      # @param record [Model]
      # @param name [Symbol]
      # @param value [Object]
      # @asynchronous
      def validate_each(record, name, value)
        return unless record.new? || changed?(record, name)
        others = record.class.table_root.unscoped.where(condition(name, value)) # subclasses share the rows
        Array(options[:scope]).each { |column| others = others.where(column => record.public_send(column)) }
        others = others.instance_exec(&options[:conditions]) if options[:conditions]
        others = others.not(record.pk_hash) unless record.new?
        record.errors.add(name, :taken, **options.except(:case_sensitive, :scope, :conditions), value: value) if others.exists?
      end

      private

      def changed?(record, name) = [name, *options[:scope]].any? { |one| !record.has_attribute?(one) || record.attribute_changed?(one) }

      def condition(name, value)
        return {name => value} unless options[:case_sensitive] == false && value.is_a?(String)
        {::Sequel.function(:lower, name) => value.downcase}
      end
    end
  end
end
