# frozen_string_literal: true

require "test_helper"
require_relative "support/blog"

class StylesTest < PeltonTest
  include Blog

  def setup
    super
    people
  end

  def test_later_gives_deferrables
    Pelton.run do
      operations = [Author.later.find(ann.id), Author.where(name: "Bob").later.all, Author.later.count, ann.later.update(age: 21), Author.later.where(name: "Cid")]

      assert(operations.all?(Pelton::Deferrable))
      assert_equal [ann, [bob], 3, true, [cid]], operations.map(&:await)
      assert_raises(Pelton::Record::NotFound) { Author.later.find(99).await }
      assert_raises(NoMethodError) { Author.later.nonsense }
    end
  end

  def test_callbacks
    got = {}
    Pelton.run do
      Author.all(limit: 2, order: :id) { |authors| got[:all] = authors }
      Author.where(age: 20).all { |authors| got[:relation] = authors }
      cid.update(age: 22) { |saved| got[:update] = saved }
      Author.where(name: "Bob").update_all(age: 5) { |rows| got[:rows] = rows }
      Author.new.save! { flunk }.errback { |error| got[:error] = error.class }

      assert_empty got
    end

    assert_equal({all: [ann, bob], relation: [ann], update: true, rows: 1, error: Pelton::Record::Invalid}, got)
  end

  def test_outside_of_a_reactor_all_of_it_blocks
    got = nil
    operation = Author.all(limit: 1) { |authors| got = authors.size }

    assert_equal 1, got
    assert_equal :succeeded, operation.state
    assert_equal ann, Author.later.find(ann.id).await
  end

  def test_a_block_that_has_a_meaning_keeps_it
    assert_equal [20, 30, nil], Author.order(:id).map(&:age)
    assert_equal 1, Author.create!(name: "x") { |author| author.age = 1 }.age
    assert_equal 5, Author.transaction { 5 }
  end
end
