# frozen_string_literal: true

require_relative "../support/blog"

class SelectionTest < PeltonTest
  include Blog::WithPeople

  def test_select
    assert_equal({name: "Ann"}, Author.select(:name).find_by(name: "Ann").values)
    assert_equal %i[id name], Author.select(:id).select("name").first.values.keys
    assert_equal 3, Author.select("LENGTH(name) AS letters").take[:letters]
    assert_equal [bob], Author.all.select { |author| author.name == "Bob" }
  end

  def test_distinct
    Author.create!(name: "Ann")

    assert_equal 3, Author.select(:name).distinct.to_a.size
    assert_equal 3, Author.distinct.count(:name)
    assert_equal 3, Author.select(:name).distinct.count
    assert_equal 4, Author.select(:name).distinct.distinct(false).to_a.size
  end

  def test_from_a_subquery
    assert_equal [bob], Author.from(Author.where(age: 21..)).to_a
  end

  def test_common_table_expressions_and_window_functions
    Post.create!(title: "one", author: bob)

    assert_equal [bob], Author.where(id: 1..).with(:writers, Post.select(:author_id).dataset).joins("JOIN writers ON writers.author_id = authors.id").to_a
    ranks = Author.where.not(age: nil).dataset.select(:name, Sequel.function(:rank).over(order: :age).as(:rank)).naked.order(:rank).all

    assert_equal [{name: "Ann", rank: 1}, {name: "Bob", rank: 2}], ranks
  end

  def test_unscope
    relation = Author.where(name: "Ann").order(:id).limit(1)

    assert_equal 3, relation.unscope(:where, :limit).count
    assert_equal 3, Author.where(name: "Ann").unscope(where: :name).count
    assert_equal 1, relation.except(:order, :limit).count
  end

  def test_a_subquery_has_the_keys
    assert_equal [bob], Author.where(id: Author.where(name: "Bob")).to_a
    assert_equal [bob], Author.where(age: Author.where(name: "Bob").select(:age)).to_a
  end

  def test_lock
    assert_equal ann, Author.transaction { Author.lock.find_by(name: "Ann") }
    assert_equal :update, Author.lock.dataset.opts[:lock]
    assert_nil Author.lock.lock(false).dataset.opts[:lock]
  end

  def test_no_column
    assert_raises(ArgumentError) { Author.select(3) }
  end
end
