# frozen_string_literal: true

require_relative "support/blog"

class StylesTest < PeltonTest
  include Blog::WithPeople

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
      Author.where(age: 20).later.all.callback { |authors| got[:relation] = authors }
      cid.later.update(age: 22).callback { |saved| got[:update] = saved }
      Author.new.later.save!.callback { flunk }.errback { |error| got[:error] = error.class }

      assert_empty got
    end

    assert_equal({relation: [ann], update: true, error: Pelton::Record::Invalid}, got)
  end

  def test_outside_of_a_reactor_all_of_it_blocks
    operation = Author.limit(1).later.all

    assert_equal [:succeeded, [ann]], [operation.state, operation.await]
  end

  def test_a_block_means_what_it_means_in_sequel_and_activerecord
    assert_equal [20, 30, nil], Author.order(:id).map(&:age)
    assert_equal 1, Author.create!(name: "x") { |author| author.age = 1 }.age
    assert_equal 5, Author.transaction { 5 }
    assert_equal [bob, 3], [Author.all.find { |author| author.age == 30 }, Author.order(:id).map(&:age).compact.size]
  end
end
