# frozen_string_literal: true

module Pelton
  module AsyncRecord
    # The methods of a model, a relation or a record, each of which runs in a task of its own.
    class Later < BasicObject
      # @param target [Object]
      def initialize(target)
        @target = target
      end

      # Calls the method. Where it returns a relation, the value is the relation's records.
      #
      # @return [Operation]
      def method_missing(name, *arguments, **options, &block) # standard:disable Style/MissingRespondToMissing: BasicObject never asks it
        unless @target.respond_to?(name)
          ::Kernel.raise ::NoMethodError, "#{name} is no method of what later was called for"
        end
        Deferrable.defer(nil) { Library.outcome(@target.public_send(name, *arguments, **options, &block)) }
      end

      # @return [Boolean]
      def respond_to?(name, include_all = false) = @target.respond_to?(name, include_all)
    end
  end
end
