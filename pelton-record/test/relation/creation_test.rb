# frozen_string_literal: true

require_relative "../support/blog"

class CreationTest < PeltonTest
  include Blog

  def test_new_objects_have_what_the_conditions_say
    author = Author.where(age: 5).create(name: "Dan") { |one| one.height = 1.0 }

    assert_predicate author, :persisted?
    assert_equal [5, "Dan", 1.0], [author.age, author.name, author.height]
    assert_predicate Author.where(age: 5).build, :new?
    assert_equal 2, Author.create([{name: "a"}, {name: "b"}]).size
    refute_predicate Author.create, :persisted?
    assert_raises(Pelton::Record::Invalid) { Author.where(age: 1).create! }
  end

  def test_find_or_create_by
    assert_equal ann, Author.find_or_create_by(name: "Ann") { flunk }
    created = Author.find_or_create_by(name: "New") { |author| author.age = 1 }

    assert_equal [1, true], [created.reload.age, created.persisted?]
    assert_raises(Pelton::Record::Invalid) { Author.find_or_create_by!(name: "") }
    assert_predicate Author.find_or_initialize_by(name: "Newer"), :new?
    assert_equal ann, Author.find_or_initialize_by(name: "Ann")
  end

  def test_what_another_has_created_meanwhile_is_found
    ann
    missed = Author.all
    calls = 0
    missed.define_singleton_method(:find_by) { |*given| ((calls += 1) == 1) ? nil : super(*given) }

    assert_equal ann, missed.find_or_create_by!(name: "Ann", email: "ann@example.com")
    assert_equal ann, Author.create_or_find_by(name: "Ann", email: "ann@example.com")
  end

  def test_the_first_one_or_a_new_one
    ann
    assert_equal [9, 20], [Author.create_with(age: 9).find_or_create_by(name: "Made").age, Author.create_with(age: 9).find_by(name: "Ann").age]
    assert_raises(Pelton::Record::Invalid) { Author.create_or_find_by!(name: "") }
  end

  # A Hash with Strings is from outside in a condition, too.
  def test_conditions_with_strings_name_what_is_permitted
    assert_equal "x", Author.where("name" => "x").new.name
    assert_raises(Pelton::Record::Forbidden) { Author.where("age" => 5).new }
    assert_equal [5, "y"], Author.where("name" => "x").rewhere(name: "y").new(age: 5).then { |one| [one.age, one.name] }
    Author.where("age" => 5).insert_all([{name: "z"}])

    assert_equal 5, Author.find_by!(name: "z").age
  end

  def test_create_with_takes_a_hash
    ["name", 1, [1]].each { |value| assert_raises(ArgumentError) { Author.create_with(value) } }
    assert_nil Author.create_with(nil).new.name
  end
end
