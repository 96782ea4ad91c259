# frozen_string_literal: true

require_relative "../support/blog"

class FindersTest < PeltonTest
  include Blog::WithPeople

  def test_find
    assert_equal ann, Author.find(ann.id)
    assert_equal ann, Author.find(ann.id.to_s)
    assert_equal [bob, ann], Author.find(bob.id, ann.id)
    assert_equal [ann], Author.find([ann.id])
    assert_empty Author.find([])
    assert_equal bob, Author.where(age: 30).find(bob.id)
    assert_equal bob, Author.find { |author| author.name == "Bob" }
  end

  def test_not_found
    assert_equal "no Blog::Author has the id 99", assert_raises(Pelton::Record::NotFound) { Author.find(99) }.message
    assert_match(/id "1 OR 1=1"/, assert_raises(Pelton::Record::NotFound) { Author.find("1 OR 1=1") }.message)
    assert_match(/id nil/, assert_raises(Pelton::Record::NotFound) { Author.find(nil) }.message)
    assert_match(/id 99: 1 of 2/, assert_raises(Pelton::Record::NotFound) { Author.find(ann.id, 99) }.message)
    error = assert_raises(Pelton::Record::NotFound) { Author.where(name: "Bob").find(ann.id) }

    assert_match(/among those with .*name. = \?/, error.message)
    assert_equal Author, error.model
    assert_kind_of Pelton::Error, error
    assert_raises(Pelton::Record::NotFound) { Author.find }
  end

  def test_find_by
    assert_equal bob, Author.find_by(name: "Bob")
    assert_equal bob, Author.find_by(email: "bob@example.com")
    assert_nil Author.find_by(email: "nobody")
    assert_nil Author.find_by(id: "x")
    assert_equal cid, Author.find_by(age: nil)
    assert_equal bob, Author.find_by("age > ?", 20)
    assert_equal bob, Author.find_by!(name: "Bob")
    assert_match(/no Blog::Author matches .*name. = \?/, assert_raises(Pelton::Record::NotFound) { Author.find_by!(name: "Nobody") }.message)
  end

  def test_first_and_last
    assert_equal [ann, cid], [Author.first, Author.last]
    assert_equal [[ann, bob], [bob, cid]], [Author.first(2), Author.last(2)]
    assert_equal [cid, ann], [Author.order(name: :desc).first, Author.order(name: :desc).last]
    assert_equal bob, Author.second
    assert_equal ann, Author.all.load.first
    assert_nil Author.none.first
    assert_raises(Pelton::Record::NotFound) { Author.none.first! }
    assert_raises(Pelton::Record::NotFound) { Author.none.last! }
    assert_equal 2, Author.take(2).size
    assert_includes people, Author.take
    assert_equal bob, Author.order(:id).limit(2).last
  end

  def test_sole
    assert_equal ann, Author.where(name: "Ann").sole
    assert_raises(Pelton::Record::NotFound) { Author.none.sole }
    assert_raises(Pelton::Record::Error) { Author.all.sole }
  end

  def test_existence
    assert Author.exists?
    assert Author.exists?(ann.id)
    assert Author.exists?(name: "Ann")
    refute Author.exists?(99)
    refute Author.exists?("x")
    refute Author.exists?(false)
    assert_predicate Author, :any?
    refute_predicate Author, :none?
    refute_predicate Author, :empty?
    assert_predicate Author.none, :none?
    assert_predicate Author, :many?
    refute_predicate Author, :one?
    assert_predicate Author.where(name: "Ann"), :one?
    assert Author.any? { |author| author.age == 20 }
    assert Author.all.none?(String)
    assert_includes Author.where(name: "Ann"), ann
    refute_includes Author.where(name: "Bob"), ann
  end

  def test_by_position
    people
    assert_equal [bob, nil], [Author.second, Author.where(name: "Ann").second]
  end
end
