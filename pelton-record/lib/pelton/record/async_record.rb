# frozen_string_literal: true

require "pelton/record"

# The library of article 004, as it was announced: an ORM in callback style.
#
#     class User < AsyncRecord::Base
#     end
#     User.all(:limit => 5) { |users| users.each { |user| puts user.username } }
module AsyncRecord
  # A model whose `all`, `find` and `count` call their blocks with what they find. Without a block they are {Pelton::Record::Model}'s.
  class Base < Pelton::Record::Model
    self.abstract_class = true

    class << self
      # @yieldparam count [Integer]
      # @return [Integer, Pelton::Operation] the Operation with a block
      # @asynchronous without a block
      def count(name = nil, &block) = block ? Pelton::Record::Styles.defer(block) { super(name, &nil) } : super
    end
  end
end
