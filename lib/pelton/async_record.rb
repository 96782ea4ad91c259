# frozen_string_literal: true

require_relative "../pelton"
require_relative "async_record/later"
require_relative "async_record/library"

module Pelton
  # Callback style for the models of ActiveRecord and of Sequel, next to their own. A call with a block returns at once,
  # and the block gets the result; `later.` returns a Deferrable; a call without either is the library's own, in direct
  # style. This module loads neither of the two.
  #
  #     class User < AsyncRecord::Base # over the library that is loaded
  #     end
  #     User.all(:limit => 5) { |users| users.each { |user| puts user.username } }
  #     User.later.find(1).callback { |user| puts user.username }.errback { |error| puts error.message }
  #
  #     class Post < ActiveRecord::Base # or for a model that is there already
  #       extend Pelton::AsyncRecord
  #     end
  #
  # A block that has a meaning in the library keeps it: docs/guides/async_record.md has a table. An error goes to the
  # errbacks of the Deferrable that the call returns, and to {Pelton.on_error} if there are none.
  module AsyncRecord
    # What a relation knows of the options that `all` takes.
    OPTIONS = {conditions: :where, order: :order, limit: :limit, offset: :offset}.freeze
    private_constant :OPTIONS

    @library = nil

    class << self
      # Chooses the library of {Base} where both are loaded.
      #
      # @param name [Symbol] :active_record or :sequel
      # @raise [ArgumentError] for another name
      # @raise [Error] if Base was made before
      def on(name)
        if const_defined?(:Base, false)
          raise Error, "AsyncRecord::Base is in use already: call AsyncRecord.on before the models are loaded"
        end
        @library = Library.named(name)
      end

      # @private
      def extended(model)
        library = Library.of(model)
        model.include(Instance)
        library.extend_model(model)
      end

      # @private
      def choose(relation, options)
        unknown = options.keys - OPTIONS.keys
        raise ArgumentError, "all takes #{OPTIONS.keys.join(", ")}, not #{unknown.join(", ")}" if unknown.any?
        OPTIONS.each do |option, name|
          value = options[option]
          relation = relation.public_send(name, *(value.is_a?(Array) ? value : [value])) unless value.nil?
        end
        relation
      end

      private

      # Base is made when it is first named, since the library may be loaded after this file.
      def const_missing(name)
        (name == :Base) ? const_set(:Base, (@library || Library.only).base.extend(self)) : super
      end
    end

    # All records, or those that the options choose.
    #
    # @param options [Hash] `conditions:`, `order:`, `limit:` and `offset:`
    # @yieldparam records [Array] if there are options; without options a block is the library's
    # @return [Object, Operation] an Operation for a callback
    # @asynchronous as in the library
    def all(options = nil, &block)
      return super() if options.nil? && block.nil?
      library = Library.of(self)
      return super(&block) if options.nil? && library.takes_block?(:all)
      found = AsyncRecord.choose(library.relation(self), options || {})
      block ? Deferrable.defer(block) { Library.outcome(found) } : library.all(found)
    end

    # @!method find(*arguments, **options)
    #   As in the library, and with a callback, unless a block has a meaning there.
    #
    #   @yieldparam found the record or the records
    #   @return [Object, Operation] an Operation for a callback
    #   @asynchronous as in the library
    # @!method first(*arguments, **options)
    #   As {#find}.
    #
    #   @return [Object, Operation]
    #   @asynchronous as in the library
    # @!method last(*arguments, **options)
    #   As {#find}.
    #
    #   @return [Object, Operation]
    #   @asynchronous as in the library

    %i[find first last].each do |name|
      define_method(name) do |*arguments, **options, &block|
        next super(*arguments, **options, &block) if block.nil? || Library.of(self).takes_block?(name, *arguments)
        Deferrable.defer(block) { super(*arguments, **options) }
      end
    end

    # The same methods, each run in a task of its own.
    #
    # @return [Later]
    def later = Later.new(Library.of(self).scope(self))

    # For the classes of ActiveRecord alone.
    module FindBy
      # @yieldparam found the record, or nil
      # @return [Object, Operation] an Operation for a callback
      # @asynchronous without a block
      def find_by(*arguments, **options, &block)
        return super(*arguments, **options) unless block
        Deferrable.defer(block) { super(*arguments, **options) }
      end
    end

    # For records.
    module Instance
      # @!method save(*arguments, **options)
      #   As in the library, and with a callback, unless a block has a meaning there.
      #
      #   @yieldparam result what the library returns
      #   @return [Object, Operation] an Operation for a callback
      #   @asynchronous as in the library
      # @!method update(*arguments, **options)
      #   As {#save}.
      #
      #   @return [Object, Operation]
      #   @asynchronous as in the library
      # @!method destroy(*arguments, **options)
      #   As {#save}.
      #
      #   @return [Object, Operation]
      #   @asynchronous as in the library

      %i[save update destroy].each do |name|
        define_method(name) do |*arguments, **options, &block|
          if block.nil? || Library.of(self.class).takes_block?(:"record.#{name}")
            next super(*arguments, **options, &block)
          end
          Deferrable.defer(block) { super(*arguments, **options) }
        end
      end

      # (see AsyncRecord#later)
      def later = Later.new(self)
    end

    # For Sequel's datasets.
    module Dataset
      # (see AsyncRecord#later)
      def later = Later.new(self)
    end
  end
end

# The name that the article "AsyncRecord" (2010) announced.
AsyncRecord = Pelton::AsyncRecord unless defined?(AsyncRecord)
