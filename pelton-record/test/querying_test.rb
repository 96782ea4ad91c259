# frozen_string_literal: true

require_relative "support/blog"

class QueryingTest < PeltonTest
  include Blog

  def test_sql_with_bound_values
    people

    assert_equal [ann], Author.find_by_sql(["SELECT * FROM authors WHERE name = ?", "Ann"])
    assert_equal 3, Author.find_by_sql("SELECT * FROM authors").size
    assert_empty Author.find_by_sql(["SELECT * FROM authors WHERE name = ?", "x' OR '1'='1"])
  end

  # Authors who have an age.
  def living_authors
    model(:Living) do
      self.table_name = "authors"
      default_scope { where.not(age: nil) }
    end
  end

  def test_default_scopes
    living = living_authors
    people

    assert_equal 2, living.count
    assert_equal 3, living.unscoped.count
    assert_raises(Pelton::Record::NotFound) { living.find(cid.id) }
    assert_nil living.find_by(id: cid.id)
    assert_equal 2, Class.new(living).count
    assert_raises(ArgumentError) { living.default_scope }
  end

  def test_a_default_scope_counts_for_associations
    living = living_authors
    letter = model(:Letter) do
      self.table_name = "posts"
      belongs_to :author, class_name: living.name
    end
    posts = [ann, cid].map { |author| Post.create!(title: "x", author: author) }

    assert_equal [ann.id, nil], posts.map { |post| letter.find(post.id).author&.id }
    assert_equal([ann.id, nil], letter.order(:id).map { |one| one.author&.id })
  end

  def test_a_scope_needs_a_proc_and_a_name_of_its_own
    assert_raises(ArgumentError) { Author.scope(:broken, Author.where(name: "x")) }
    assert_raises(ArgumentError) { Author.scope(:where, -> { all }) }
    assert_match(/takes no block/, assert_raises(ArgumentError) { Author.scope(:recent, -> { all }) { 1 } }.message)
  end

  def test_a_scope_that_gives_nothing_is_all_rows
    people
    maybe = model(:Maybe) do
      self.table_name = "authors"
      scope :named, ->(name) { where(name: name) if name }
    end

    assert_equal [1, 3], [maybe.named("Ann").count, maybe.named(nil).count]
  end

  def test_text_for_like
    assert_equal '50\\%\\_\\\\', Author.sanitize_sql_like("50%_\\")
  end
end
