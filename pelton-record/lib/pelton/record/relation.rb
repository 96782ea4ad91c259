# frozen_string_literal: true

require_relative "styles"
require_relative "relation/conditions"
require_relative "relation/ordering"
require_relative "relation/selection"
require_relative "relation/joins"
require_relative "relation/eager"
require_relative "relation/calculations"
require_relative "relation/finders"
require_relative "relation/batches"
require_relative "relation/paging"
require_relative "relation/writes"
require_relative "relation/creation"

module Pelton
  module Record
    # A query of a model, with ActiveRecord's names. It is read once, on first use, and keeps its records.
    #
    # It wraps a Sequel dataset ({#dataset}), whose methods work, too: datasets that they return become relations.
    class Relation
      include Enumerable
      include Conditions
      include Ordering
      include Selection
      include Joins
      include Eager
      include Calculations
      include Finders
      include Batches
      include Paging
      include Writes
      include Creation
      include Styles

      # @return [Class] of the records
      attr_reader :model

      # @return [Sequel::Dataset] the query, for all of Sequel's methods
      attr_reader :dataset

      # @private
      # @param given [Hash] attributes that the conditions give to new objects
      def initialize(model, dataset, given = ::Sequel::OPTS)
        @model = model
        @dataset = dataset
        @given = given
      end

      # The records. Fibers that read them at the same time share one query.
      #
      # @return [Array<Model>] shared by all callers; {#to_a} copies
      # @asynchronous
      def records = @records || Sequel::Turns.take(self, :records) { @records ||= read }

      # @return [Array<Model>]
      # @asynchronous
      def to_a = records.dup
      alias_method :to_ary, :to_a

      # @return [self]
      def all = self

      # @yieldparam record [Model]
      # @return [self, Enumerator]
      # @asynchronous
      def each(&block)
        return to_enum(:each) { size } unless block
        records.each(&block)
        self
      end

      # Reads the records, unless they are loaded.
      #
      # @return [self]
      # @asynchronous
      def load
        records
        self
      end

      #
      # @return [self]
      # @asynchronous
      def reload
        @records = nil
        load
      end

      # @return [self] without its records
      def reset
        @records = nil
        self
      end

      # @return [Boolean]
      def loaded? = !@records.nil?

      # @return [Integer] number of loaded records, or counted by a query
      # @asynchronous
      def size = @records ? @records.size : count(:all)

      # @return [Integer]
      # @asynchronous
      def length = records.length

      # @return [Model, Array<Model>, nil] as Array#[]
      # @asynchronous
      def [](*range) = records[*range]

      # @return [Boolean]
      # @asynchronous
      def blank? = records.empty?

      # @return [Boolean]
      # @asynchronous
      def present? = !blank?

      # @return [Boolean] whether both are the same records
      # @asynchronous
      def ==(other) = equal?(other) || (other.is_a?(Relation) ? other.dataset == dataset : records == other)

      %i[+ - & | compact in_groups_of index intersect? rindex rotate sample shuffle split].each do |name|
        # Array's methods, on the records.
        define_method(name) { |*arguments, &block| records.public_send(name, *arguments, &block) }
      end

      # @return [Symbol]
      def table_name = model.table_name

      # @return [String]
      def to_sql = (dataset.respond_to?(:no_auto_parameterize) ? dataset.no_auto_parameterize : dataset).sql

      # Calls the block with this relation as all rows of the model.
      #
      # @return the block's value
      def scoping(&block) = model.scoping(self, &block)

      # @return [String]
      def inspect = loaded? ? "#<#{self.class} #{@records.inspect}>" : "#<#{self.class} #{Condition.without_values(dataset)}>"

      # @private
      # @return [Hash] attributes that the conditions give to new objects
      attr_reader :given

      # @private
      def sql_literal_append(query, sql) = query.literal_append(sql, dataset)

      private

      def read = objects(dataset)

      # @return [Relation] with another dataset
      def derived(dataset, given = self.given) = Relation.new(model, dataset, given)

      # Calls class methods of the program, Sequel's dataset methods, and class methods of the model.
      def method_missing(name, *args, **options, &block)
        return scoping { model.public_send(name, *args, **options, &block) } if own_class_method?(name)
        return model_method(name, args, options, block) { super } unless dataset.respond_to?(name)
        found = dataset.public_send(name, *args, **options, &block)
        (found.is_a?(::Sequel::Dataset) && found.row_proc) ? derived(found) : found
      end

      # For example sanitize_sql_like and transaction in a scope's body.
      def model_method(name, args, options, block) = model.respond_to?(name) ? model.public_send(name, *args, **options, &block) : yield

      def respond_to_missing?(name, include_all = false) = dataset.respond_to?(name, include_all) || model.respond_to?(name) || super

      # Class methods of the program, such as scopes.
      def own_class_method?(name) = model.respond_to?(name) && !Model.respond_to?(name)
    end
  end
end
