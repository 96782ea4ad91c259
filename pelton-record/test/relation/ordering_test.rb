# frozen_string_literal: true

require_relative "../support/blog"

class OrderingTest < PeltonTest
  include Blog::WithPeople

  def test_order
    assert_equal %w[Ann Bob Cid], names(Author.order(:name))
    assert_equal %w[Cid Bob Ann], names(Author.order(name: :desc))
    assert_equal %w[Cid Bob Ann], names(Author.order("name DESC, id"))
    assert_equal %w[Cid Bob Ann], names(Author.order("authors.name desc"))
    assert_equal %w[Bob Ann], names(Author.where.not(age: nil).order({age: "DESC"}, :name))
    assert_equal %w[Cid Bob Ann], names(Author.order(Sequel.desc(:name)))
    assert_equal %w[Ann Bob Cid], names(Author.order(Sequel.lit("LENGTH(name)")).order(:id))
    assert_equal %w[Cid Ann Bob], names(Author.order("age NULLS FIRST"))
  end

  def test_orders_add_up_until_they_are_replaced
    assert_equal %w[Ann Bob Cid], names(Author.order(:name).order(id: :desc))
    assert_equal %w[Cid Bob Ann], names(Author.order(:name).reorder(id: :desc))
    assert_equal %w[Cid Bob Ann], names(Author.order(:name).reverse_order)
    assert_equal %w[Cid Bob Ann], names(Author.all.reverse_order)
  end

  def test_an_order_from_outside_cannot_be_sql
    ["name; DROP TABLE authors", "(SELECT 1)", "CASE WHEN 1=1 THEN name END", "name -- ", "name/**/"].each do |text|
      assert_match(/Sequel.lit/, assert_raises(ArgumentError, text) { Author.order(text) }.message)
    end
    assert_raises(ArgumentError) { Author.order(name: "desc; DROP TABLE authors") }
    assert_raises(ArgumentError) { Author.order(3) }
    assert_raises(ArgumentError) { Author.order }
    assert_raises(Sequel::DatabaseError) { Author.order(:"name` DESC; --").to_a }
  end

  def test_limit_and_offset
    assert_equal %w[Ann], names(Author.order(:id).limit(1))
    assert_equal %w[Bob], names(Author.order(:id).limit("1").offset("1"))
    assert_equal 3, Author.limit(1).limit(nil).to_a.size
    assert_empty Author.limit(0).to_a
  end

  def test_usual_limits_are_kept_with_their_sql
    assert_same Author.limit(20).dataset, Author.limit(20).dataset
    assert_equal [20, 101], [Author.limit(20), Author.limit(101)].map { |found| found.dataset.opts[:limit] }
  end

  def test_a_limit_is_a_number
    ["1; DROP TABLE authors", "1 UNION SELECT 1", -1, 1.5, "", [1]].each do |value|
      assert_raises(ArgumentError, value.inspect) { Author.limit(value) }
      assert_raises(ArgumentError, value.inspect) { Author.offset(value) }
    end
  rescue TypeError
    flunk "a TypeError is no good error"
  end

  def test_the_order_of_another_table
    first, second = [ann, bob].map { |author| Post.create!(title: "x", author: author) }
    assert_equal [second, first], Post.joins(:author).order(authors: {name: :desc}).to_a
    assert_raises(ArgumentError) { Post.order(authors: {name: "x"}) }
  end

  def test_numbers_of_rows_from_outside
    [2**63, (2**70).to_s, -1, "secret", {"a" => "secret"}, "1".encode("UTF-16LE")].each do |value|
      refute_match(/secret|\d{3}/, assert_raises(ArgumentError) { Author.limit(value) }.message)
      assert_raises(ArgumentError) { Author.offset(value) }
    end
    refute_match(/secret/, assert_raises(ArgumentError) { Author.order(name: "secret") }.message)
  end

  private

  def names(relation) = relation.map(&:name)
end
