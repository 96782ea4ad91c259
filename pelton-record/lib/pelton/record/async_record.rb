# frozen_string_literal: true

require "pelton/record"

# The ORM of article 004, in callback style, as announced there.
#
#     class User < AsyncRecord::Base
#     end
#     User.all(:limit => 5) { |users| users.each { |user| puts user.username } }
module AsyncRecord
  # A model whose finders call their blocks with the result. Without a block they are {Pelton::Record::Model}'s.
  class Base < Pelton::Record::Model
    self.abstract_class = true

    class << self
      # @yieldparam records [Array<Base>]
      # @return [Pelton::Record::Relation, Pelton::Operation] an Operation with a block
      # @asynchronous without a block, when the relation is read
      def all(conditions: nil, order: nil, limit: nil, offset: nil, &block)
        found = if conditions
          where(*(conditions.is_a?(Hash) ? [conditions] : conditions))
        else
          relation
        end
        found = found.order(*order) if order
        found = found.limit(limit) if limit
        found = found.offset(offset) if offset
        block ? found.later.to_a.callback(&block) : found
      end

      %i[find find_by first last count].each do |name|
        # @yieldparam found [Base, Array<Base>, Integer, nil]
        # @return [Object, Pelton::Operation] an Operation with a block
        # @asynchronous without a block
        define_method(name) { |*arguments, &block| block ? later.public_send(name, *arguments).callback(&block) : super(*arguments) }
      end
    end
  end
end
