# frozen_string_literal: true

require_relative "../support/blog"

class CalculationsTest < PeltonTest
  include Blog::WithPeople

  def test_count
    assert_equal 3, Author.count
    assert_equal 3, Author.count(:all)
    assert_equal 2, Author.count(:age)
    assert_equal 2, Author.limit(2).count
    assert_equal 1, Author.order(:id).offset(2).limit(5).count
    assert_equal 1, Author.all.count { |author| author.age == 20 }
  end

  def test_sums_and_averages
    assert_equal 50, Author.sum(:age)
    assert_equal 0, Author.none.sum(:age)
    assert_equal 25, Author.average(:age)
    assert_instance_of BigDecimal, Author.average(:age)
    assert_in_delta 1.75, Author.average(:height)
    assert_nil Author.where(age: nil).average(:age)
    assert_equal [20, 30], [Author.minimum(:age), Author.maximum(:age)]
    assert_equal 50, Author.where.not(age: nil).sum(&:age)
    assert_equal 20, Author.order(:id).limit(1).sum(:age)
  end

  def test_a_minimum_has_the_column_s_type
    assert_kind_of Time, Author.minimum(:created_at)
    assert_equal "Ann", Author.minimum(:name)
  end

  def test_groups
    Author.create!(name: "Ann", age: 40)

    assert_equal({"Ann" => 2, "Bob" => 1, "Cid" => 1}, Author.group(:name).count)
    assert_equal({"Ann" => 60, "Bob" => 30, "Cid" => 0}, Author.group(:name).sum(:age))
    assert_equal({["Ann", 20] => 1, ["Ann", 40] => 1}, Author.where(name: "Ann").group(:name, :age).count)
    assert_equal({"Ann" => 40}, Author.where(name: "Ann").group(:name).maximum(:age))
    assert_equal({"Ann" => 2}, Author.group(:name).order(Sequel.lit("COUNT(*) DESC")).limit(1).count)
  end

  def test_groups_of_an_enum
    Post.create!(title: "x", author: ann, status: :published)

    assert_equal({"published" => 1}, Post.group(:status).count)
  end

  def test_pluck
    assert_equal %w[Ann Bob Cid], Author.order(:id).pluck(:name)
    assert_equal [["Ann", 20], ["Bob", 30]], Author.where.not(age: nil).order(:id).pluck(:name, :age)
    assert_equal [3], Author.where(name: "Ann").pluck(Sequel.lit("LENGTH(name)"))
    assert_equal "Ann", Author.order(:id).pick(:name)
    assert_nil Author.none.pick(:name)
    assert_equal people.map(&:id), Author.order(:id).ids
    assert_kind_of Time, Author.pick(:created_at)
    assert_equal Author.columns.size, Author.order(:id).pluck.first.size
  end

  def test_pluck_takes_no_sql
    assert_raises(ArgumentError) { Author.pluck("name FROM authors; --") }
    assert_raises(ArgumentError) { Author.pluck("(SELECT 1)") }
  end

  def test_the_result_may_be_ordered_by
    Author.delete_all
    3.times { |number| Author.create!(name: %w[Ann Bob][number % 2]) }
    assert_equal({"Ann" => 2, "Bob" => 1}, Author.group(:name).order("count_all DESC").count)
    assert_equal 2, Author.distinct.count(:name)
  end
end
