# frozen_string_literal: true

require "test_helper"
require_relative "support/blog"

class ModelErrorTest < PeltonTest
  include Blog

  def test_the_messages_say_what
    author = Author.new

    assert_equal "Validation failed: Name can't be blank", assert_raises(Pelton::Record::Invalid) { author.save! }.message
    assert_equal author, assert_raises(Pelton::Record::NotSaved) { author.save! }.record
    assert_match(/:abort/, Pelton::Record::NotSaved.new(author).message)
    assert_predicate Pelton::Record::Stale.new(ann), :retriable?
    assert_operator Pelton::Record::Forbidden, :<, Pelton::Error
  end
end
