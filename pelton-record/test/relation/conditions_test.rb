# frozen_string_literal: true

require_relative "../support/blog"

class ConditionsTest < PeltonTest
  include Blog::WithPeople

  def test_hashes
    assert_equal [ann], Author.where(name: "Ann").to_a
    assert_equal [ann], Author.where("name" => "Ann", :age => 20).to_a
    assert_equal [cid], Author.where(age: nil).to_a
    assert_equal %w[Ann Bob], names(Author.where(name: %w[Ann Bob]))
    assert_equal %w[Ann Cid], names(Author.where(age: [20, nil]))
    assert_equal %w[Bob], names(Author.where(age: 21..40))
    assert_equal %w[Bob], names(Author.where(age: 21..))
    assert_equal %w[Ann], names(Author.where(age: 20...30))
    assert_equal %w[Ann], names(Author.where("authors.name" => "Ann"))
    assert_equal %w[Ann], names(Author.where(authors: {name: "Ann"}))
    assert_empty Author.where(name: [])
    assert_equal 3, Author.where({}).count
    assert_equal %w[Ann], names(Author.where(name: :Ann))
  end

  def test_values_are_cast_to_the_column_s_type
    assert_equal %w[Ann], names(Author.where(age: "20"))
    assert_empty Author.where(age: "20 OR 1=1").to_a
    assert_empty Author.where(age: ["x"]).to_a
    assert_equal 3, Author.where.not(age: "x").count
    assert_empty Author.where(name: 0).to_a
    assert_raises(Pelton::Record::BadValue) { Author.where(name: {"$ne" => "x"}).to_a }
    assert_raises(Pelton::Record::BadValue) { Author.where(name: [["Ann"]]).to_a }
  end

  def test_texts_with_values
    assert_equal %w[Bob], names(Author.where("age > ? AND name <> ?", 20, "x"))
    assert_equal %w[Bob], names(Author.where("age > :age", age: 20))
    assert_equal %w[Ann Bob], names(Author.where("name IN (?)", %w[Ann Bob]))
    assert_empty Author.where("name IN (?)", []).to_a
    assert_equal %w[Ann], names(Author.where(["name = ?", "Ann"]))
    assert_equal %w[Ann], names(Author.where("name = 'Ann'"))
    assert_equal %w[Ann], names(Author.where("age = 20 OR age = 30").where(name: "Ann"))
    assert_equal %w[Ann], names(Author.where("id IN (?)", Author.where(name: "Ann")))
  end

  def test_the_number_of_values_is_checked
    assert_match(/1 values for the 2 placeholders/, assert_raises(ArgumentError) { Author.where("age > ? AND age < ?", 1) }.message)
    assert_match(/no value for :to/, assert_raises(ArgumentError) { Author.where("age < :to", from: 1) }.message)
    [3, true, false, [true]].each { |value| assert_match(/where takes a Hash/, assert_raises(ArgumentError) { Author.where(value) }.message) }
  end

  def test_values_never_become_sql
    evil = "x' OR '1'='1"

    assert_empty Author.where(name: evil).to_a
    assert_empty Author.where("name = ?", evil).to_a
    assert_empty Author.where("name = :name", name: evil).to_a
    assert_empty Author.where("name IN (?)", [evil]).to_a
    assert_empty Author.where(name: ["\\' OR 1=1 --", "\\"]).to_a
    assert_raises(Sequel::DatabaseError) { Author.where("id` = 1 OR \"1\"='1" => 1).to_a }
  end

  def test_not
    assert_equal %w[Bob], names(Author.where.not(name: "Ann").where.not(age: nil))
    assert_equal %w[Bob Cid], names(Author.not(name: "Ann"))
    assert_equal %w[Cid], names(Author.where.not(name: %w[Ann Bob]))
    assert_equal %w[Bob], names(Author.where.not("age = ?", 20))
  end

  def test_or
    assert_equal %w[Ann Bob], names(Author.where(name: "Ann").or(Author.where(age: 30)))
    assert_equal %w[Ann], names(Author.where(name: "Ann").or(Author.where(age: 30)).where(age: 20))
    assert_equal 3, Author.where(name: "Ann").or(Author.all).count
  end

  def test_expressions_of_sequel
    assert_equal %w[Bob], names(Author.where { age > 20 })
    assert_equal %w[Bob], names(Author.where(Sequel[:age] > 20))
    assert_equal %w[Cid], names(Author.exclude(age: [20, 30]).or(age: nil))
  end

  def test_associations
    post = Post.create!(title: "one", author: ann)
    Post.create!(title: "two", author: bob)

    assert_equal [post], Post.where(author: ann).to_a
    assert_equal 2, Post.where(author: [ann, bob]).count
    assert_equal [post], Post.where(author: Author.where(name: "Ann")).to_a
    assert_equal [post], Post.where(author_id: Author.where(name: "Ann")).to_a
    assert_equal [post], Post.where(author: ann.id).to_a
    assert_equal [post], Post.where(author_id: ann).to_a
    assert_equal [ann], Author.where(posts: post).to_a
    assert_equal %w[Cid], names(Author.where.missing(:posts))
    assert_equal %w[Ann Bob], names(Author.where.associated(:posts))
  end

  def test_rewhere_replaces
    assert_equal %w[Bob], names(Author.where(name: "Ann").rewhere(name: "Bob"))
    assert_equal %w[Bob], names(Author.where(name: "Ann", age: 30).rewhere(name: "Bob"))
    assert_empty Author.where(name: "Ann", age: 20).rewhere(name: "Bob").to_a
  end

  def test_merge_takes_what_another_relation_says
    Post.create!(title: "one", author: ann)

    assert_equal %w[Ann], names(Author.joins(:posts).merge(Post.where(title: "one")))
    assert_equal %w[Bob Ann], Author.adult.merge(Author.order(age: :desc)).map(&:name)
  end

  def test_having
    assert_equal({20 => 1}, Author.group(:age).having("COUNT(*) > ? AND age < ?", 0, 25).count)
  end

  def test_none_asks_nothing
    assert_empty(queries { assert_equal [[], 0, false], Author.none.then { |none| [none.to_a, none.count, none.exists?] } })
  end

  def test_a_condition_is_given_to_new_objects
    assert_equal "Ann", Author.where(name: "Ann").new.name
    assert_nil Author.where(name: %w[Ann Bob]).new.name
    assert_nil Author.where(name: "Ann").or(Author.where(age: 1)).new.name
  end

  def test_what_is_left_out
    people
    assert_equal [[bob, cid], [cid]], [Author.excluding(ann), Author.without([ann, nil], Author.where(name: "Bob"))].map { |found| found.order(:id).to_a }
    assert_equal [[ann], [ann]], [Author.none.or(Author.where(name: "Ann")), Author.where(name: "Ann").or(Author.none)].map(&:to_a)
  end

  def test_merging_replaces_conditions_on_the_same_column
    people
    assert_equal [bob], Author.where(name: "Ann").merge(Author.where(name: "Bob")).to_a
    assert_empty Author.where(name: ["Ann", nil], age: 20).merge(Author.where(name: "Bob")).to_a
    assert_equal people, Author.where(age: -Float::INFINITY..Float::INFINITY).order(:id).to_a
  end

  def test_an_empty_text_is_no_null
    assert_empty Author.where(age: "")
    assert_nil Author.find_by(age: "")
    assert_empty Author.where(age: ""..)
    assert_equal [cid], Author.where(age: ["", nil]).to_a
    assert_equal 3, Author.where("  ").count
  end

  def test_numbers_that_sql_does_not_have
    [Complex(1, 2), Rational(1, 3)].each { |value| assert_raises(Pelton::Record::BadValue) { Author.where("age = ?", value) } }
    assert_empty Author.where(age: Complex(1, 2))
  end

  private

  def names(relation) = relation.order(:id).map(&:name)
end
