# frozen_string_literal: true

module Pelton
  module Record
    class Relation
      # Finding one object, or a few.
      module Finders
        # Finds the object with a primary key, or the objects with several. With a block, Enumerable#find.
        #
        # @param ids [Array]
        # @return [Model, Array<Model>] in the order of the keys
        # @raise [NotFound] if one is missing
        # @asynchronous
        def find(*ids, &block)
          return records.find(&block) if block
          raise NotFound.new("find needs a key: #{model}.find(1)", model: model) if ids.empty?
          listed = ids.first.is_a?(Array) && !model.primary_key.is_a?(Array)
          return [] if listed && ids.first.empty?
          ids = (listed ? ids.first : ids).compact.uniq
          return find_many(ids) if ids.size > 1
          listed ? [find_one(ids.first)] : find_one(ids.first)
        end

        # @param conditions see {Relation::Conditions#where}
        # @return [Model, nil]
        # @asynchronous
        def find_by(*conditions) = where(*conditions).take

        # @param conditions see {Relation::Conditions#where}
        # @return [Model]
        # @raise [NotFound]
        # @asynchronous
        def find_by!(*conditions) = where(*conditions).take!

        # Returns any object, or `count` objects.
        #
        # @return [Model, nil, Array<Model>]
        # @asynchronous
        def take(count = nil)
          return count ? records.take(count) : records.first if loaded?
          count ? limit(count).to_a : one(dataset)
        end

        # Returns the first object by the order, or else by primary key; or the first `count` objects.
        #
        # @return [Model, nil, Array<Model>]
        # @asynchronous
        def first(count = nil)
          return count ? records.first(count) : records.first if loaded?
          found = dataset.opts[:order] ? dataset : by_key
          count ? derived(found).limit(count).to_a : one(found)
        end

        # Returns the last object by the order, or else by primary key; or the last `count` objects, in order.
        #
        # @return [Model, nil, Array<Model>]
        # @asynchronous
        def last(count = nil)
          return count ? records.last(count) : records.last if loaded? || dataset.opts[:limit]
          count ? reverse_order.limit(count).to_a.reverse : one(reverse_order.dataset)
        end

        # @return [Model, nil]
        # @asynchronous
        def second = first(2)[1]

        %i[first last take].each do |name|
          class_eval(<<~RUBY, __FILE__, __LINE__ + 1)
            # @return [Model]
            # @raise [NotFound]
            # @asynchronous
            def #{name}! = #{name} || missing
          RUBY
        end

        # Returns the only object.
        #
        # @return [Model]
        # @raise [NotFound] if there is none
        # @raise [Error] if there are several
        # @asynchronous
        def sole
          found = limit(2).to_a
          raise Error, "more than one #{model} matches #{describe}" if found.size > 1
          found.first || missing
        end

        # Whether there is any row, one with this key, or one that matches.
        #
        # @return [Boolean]
        # @asynchronous
        def exists?(condition = true)
          found = case condition
          when true then self
          when false, nil then return false
          when Hash, Array, ::Sequel::SQL::Expression then where(condition)
          else where(model.primary_key => condition)
          end
          !found.dataset.naked.unordered.clone(eager: nil).empty?
        end

        # @return [Boolean] whether there is a row; with a block or a pattern, Enumerable#any?
        # @asynchronous
        def any?(...) = block_or_pattern?(...) ? records.any?(...) : !empty?

        # @return [Boolean] whether there is no row; with a block or a pattern, Enumerable#none?
        # @asynchronous
        def none?(...) = block_or_pattern?(...) ? records.none?(...) : empty?

        # @return [Boolean] whether there is exactly one row; with a block or a pattern, Enumerable#one?
        # @asynchronous
        def one?(...) = block_or_pattern?(...) ? records.one?(...) : limited(2) == 1

        # @return [Boolean]
        # @asynchronous
        def many?(&block) = block ? records.many?(&block) : limited(2) > 1

        # @return [Boolean]
        # @asynchronous
        def empty? = loaded? ? records.empty? : !exists?

        # @param record [Model]
        # @return [Boolean] whether it is one of the rows
        # @asynchronous
        def include?(record)
          return records.include?(record) if loaded? || !record.is_a?(model)
          record.persisted? && exists?(model.primary_key_hash(record.pk))
        end

        # @private
        # @raise [NotFound] naming the key
        def not_found(key, more = "")
          names = Array(model.primary_key)
          shown = (names.any? { |name| model.filtered?(name) }) ? "" : " #{key.inspect[0, 100]}"
          raise NotFound.new("no #{model} has the #{names.join(" and ")}#{shown}#{describe(" among those with ")}#{more}", model: model)
        end

        private

        def block_or_pattern?(*pattern, &block) = block || pattern.any?

        def limited(count) = loaded? ? records.size : limit([count, dataset.opts[:limit]].compact.min).count(:all)

        def one(found)
          found = found.limit(1) unless found.opts[:limit] == 1
          objects(found).first
        end

        def find_one(id)
          id = id.pk if id.is_a?(::Sequel::Model)
          found = where(model.primary_key_hash(id)).take unless id.nil?
          found || not_found(id)
        end

        def find_many(ids)
          key = model.primary_key
          found = where(key => ids).to_a.to_h { |record| [record.pk, record] }
          inquired = ids.map do |id|
            found[model.cast(key, id)] || not_found(id, ": #{found.size} of #{ids.size} were found")
          rescue ::Sequel::InvalidValue
            not_found(id)
          end
          dataset.opts[:order] ? found.values & inquired : inquired
        end

        def missing = raise(NotFound.new("no #{model} matches#{describe(" ")}", model: model))

        # Describes the conditions for messages, without values, which may be secret.
        def describe(before = "")
          condition = dataset.opts[:where]
          condition ? "#{before}#{Condition.without_values(dataset, condition)}" : ""
        end
      end
    end
  end
end
