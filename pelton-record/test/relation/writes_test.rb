# frozen_string_literal: true

require_relative "../support/blog"

class WritesTest < PeltonTest
  include Blog

  def test_update_all
    people

    assert_equal 1, Author.where(name: "Ann").update_all(age: "21", name: "Anna")
    assert_equal [21, "Anna"], ann.reload.then { |author| [author.age, author.name] }
    assert_equal 2, Author.where.not(age: nil).update_all("age = age + 1")
    assert_equal 1, Author.where(name: "Bob").update_all(["name = ?, age = ?", "B'ob", 5])
    assert_equal ["B'ob", 5], bob.reload.then { |author| [author.name, author.age] }
    assert_equal 1, Author.order(:id).limit(1).update_all(name: "first")
    assert_equal "first", ann.reload.name
    assert_raises(ArgumentError) { Author.update_all(3) }
  end

  def test_update_all_of_a_join
    Post.create!(title: "x", author: ann)
    bob

    assert_equal 1, Author.joins(:posts).where(posts: {title: "x"}).update_all(age: 99)
    assert_equal [99, 30], [ann.reload.age, bob.reload.age]
  end

  def test_update_all_of_an_enum
    post = Post.create!(title: "x", author: ann)
    Post.update_all(status: :published)

    assert_predicate post.reload, :published?
  end

  def test_deleting
    people

    assert_equal 1, Author.where(name: "Ann").delete_all
    assert_equal [bob], Author.where(name: "Bob").destroy_all
    assert_equal 1, Author.count
  end

  def test_insert_all
    people

    assert_empty Author.insert_all([{name: "Dan", email: "dan"}, {name: "Double", email: "ann@example.com"}])
    assert_equal %w[Ann Bob Cid Dan], Author.order(:id).pluck(:name)
    assert_kind_of Time, Author.find_by(name: "Dan").created_at
    assert_raises(Sequel::UniqueConstraintViolation) { Author.insert_all!([{name: "x", email: "dan"}]) }
    assert_raises(ArgumentError) { Author.insert_all([{name: "x"}, {email: "y"}]) }
    assert_empty Author.insert_all([])
    assert_equal [{name: "Eve"}], Author.insert_all([{name: "Eve"}], returning: :name)
  end

  def test_upsert_all
    people
    Author.upsert_all([{email: "ann@example.com", name: "Anna", age: 1}, {email: "new", name: "New", age: 2}], unique_by: :email)

    assert_equal ["Anna", 1], ann.reload.then { |author| [author.name, author.age] }
    assert_equal "New", Author.find_by(email: "new").name
    Author.upsert_all([{email: "ann@example.com", name: "X", age: 7}], unique_by: :email, update_only: [:age])

    assert_equal ["Anna", 7], ann.reload.then { |author| [author.name, author.age] }
  end

  def test_counters_and_touching
    Author.where(id: ann.id).update_counters(posts_count: 2)

    assert_equal 2, ann.reload.posts_count
    Author.where(id: ann.id).touch_all(time: Time.at(0))

    assert_equal 0, ann.reload.updated_at.to_i
  end

  def test_objects_of_a_query
    people
    assert_equal %w[x x], Author.where(age: 20..).update(name: "x").map(&:name)
    assert_raises(Pelton::Record::Invalid) { Author.where(name: "x").update!(name: "") }
    assert_raises(ArgumentError) { Author.update_all({}) }
    assert_raises(ArgumentError) { Author.update_all("") }
  end

  def test_counters_of_the_class
    assert_equal [1, 22], [Author.where(id: ann.id).update_counters(age: 2), ann.reload.age]
  end

  def test_rows_without_timestamps_and_doubles
    Author.insert_all!([{name: "x"}], record_timestamps: false)
    assert_nil Author.last.created_at
    ann
    Author.upsert_all([{email: "ann@example.com", name: "Other"}], unique_by: :email, on_duplicate: :skip)
    assert_equal ["Ann", 2], [ann.reload.name, Author.count]
    ann.posts.insert_all([{title: "bulk"}])
    assert_equal [ann.id], Post.pluck(:author_id)
  end

  def test_what_a_column_cannot_have_is_refused_without_showing_it
    people
    [2**70, "12345abc", Float::INFINITY, Float::NAN, true, {a: 1}, [1], Complex(1, 2), "5".encode("UTF-16LE")].each do |value|
      error = assert_raises(Pelton::Record::BadValue) { Author.update_all(age: value) }

      refute error.retriable?
      refute_match(/#{2**70}|12345abc/, error.message)
      assert_raises(Pelton::Record::BadValue) { Author.insert_all([{name: "x", age: value}]) }
      assert_raises(Pelton::Record::BadValue) { Author.where(id: ann.id).update_counters(age: value) } unless value.is_a?(String) && value.encoding != Encoding::UTF_8
    end
    [nil, 5, "x", ["x"], {}].each { |row| assert_raises(ArgumentError) { Author.insert_all([row]) } }
    [[1], [nil], [{a: 1}]].each { |change| assert_raises(ArgumentError) { Author.update_all(change) } }
    assert_equal [20, 30, nil], Author.order(:id).pluck(:age)
  end
end
