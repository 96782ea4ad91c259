# frozen_string_literal: true

require "date"

module Pelton
  module Web
    class Fragments
      # A fragment's key as a unique String: of a String, a Symbol or a number; an object with a key and version
      # (`cache_key_with_version`, as models have, `cache_key`, or `id` and `updated_at`); or an Array of these, nil,
      # true, false, Times and Dates. {Controller::Conditional#fresh_when} takes the same keys as versions of pages.
      module Key
        class << self
          # @raise [ArgumentError] if the key says nothing: every nil would have the same key
          def of(key)
            case key
            when String
              raise ArgumentError, "the key of a fragment is empty" if key.empty?
              key.start_with?("[") ? array([key]) : key # an Array's key begins with this
            when Array
              raise ArgumentError, "the key of a fragment is empty" if key.empty?
              array(key)
            when nil, true, false then raise ArgumentError, "the key of a fragment is #{key.inspect}"
            else of(part(key))
            end
          end

          private

          # C converts the usual parts and yields the rest: a page needs the keys of all its fragments.
          def array(parts) = HTTP::Fragment.key(parts) { |one| part(one) }

          def part(one)
            case one
            when String then one
            when Time then "#{one.to_i}.#{one.nsec}"
            when Numeric then one.to_s
            when Symbol then one.name
            when Date then one.ajd.to_s
            else of_object(one)
            end
          end

          def of_object(object)
            return object.cache_key_with_version.to_s if object.respond_to?(:cache_key_with_version)
            return object.cache_key.to_s if object.respond_to?(:cache_key)
            if object.respond_to?(:id) && object.respond_to?(:updated_at)
              return array([object.class.name, object.id, object.updated_at])
            end
            raise ArgumentError, "#{object.class} cannot be the key of a fragment, nor a version: use Strings, " \
              "numbers and Times, such as [\"post\", post.id, post.updated_at], or define cache_key"
          end
        end
      end
    end
  end
end
