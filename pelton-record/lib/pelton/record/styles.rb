# frozen_string_literal: true

module Pelton
  module Record
    # Callback style, by `later`.
    module Styles
      # Runs the block in a task, or at once without a reactor. The task reads from the primary if this fiber would.
      #
      # @return [Operation]
      def self.defer(&work)
        return Pelton.__send__(:defer, nil, &work) if (stuck = Record.databases.filter_map { |database| database.pool.stuck if database.pool.respond_to?(:stuck) }).empty?
        Pelton.__send__(:defer, nil) do
          stuck.each { |mark, wrote| Thread.current[mark] = wrote }
          work.call
        end
      end

      # An object's methods, each run in a separate task.
      class Later < BasicObject
        # @param target [Object]
        def initialize(target)
          @target = target
        end

        # Calls the method in a task. If it returns a relation, the value is its records.
        #
        # @return [Operation]
        def method_missing(name, *args, **options, &block)
          ::Kernel.raise ::NoMethodError, "#{@target.inspect} has no #{name}" unless @target.respond_to?(name)
          Styles.defer { Styles.outcome(@target.public_send(name, *args, **options, &block)) }
        end

        # @return [Boolean]
        def respond_to_missing?(name, include_all = false) = @target.respond_to?(name, include_all)
      end

      # @private
      # A relation's value is its records.
      def self.outcome(value) = value.is_a?(Relation) ? value.to_a : value

      # Returns an object with the same methods, each of which returns a Deferrable.
      #
      # @example User.later.find(1).callback { |user| ... }
      # @example User.where(active: true).later.all
      # @return [Later]
      def later = Later.new(self)
    end
  end
end
