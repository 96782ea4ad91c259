# frozen_string_literal: true

require_relative "support/blog"

class ValidationsTest < PeltonTest
  include Blog

  def test_activemodel_s_validations
    person = model(:Person) do
      self.table_name = "authors"
      validates :name, presence: true, length: {maximum: 5}
      validates :age, numericality: {greater_than: 0}, allow_nil: true
      validates :email, format: /@/, on: :create
      validate { errors.add(:base, "odd") if name == "odd" }
    end
    one = person.new(name: "too long", age: -1, email: "x")

    refute_predicate one, :valid?
    assert_equal ["Name is too long (maximum is 5 characters)", "Age must be greater than 0", "Email is invalid"], one.errors.full_messages
    assert_predicate person.new(name: "odd", email: "@"), :invalid?
    saved = person.create!(name: "ok", email: "@")

    assert saved.update(email: "x")
    assert_raises(Pelton::Record::Invalid) { saved.tap { |record| record.name = nil }.validate! }
    refute saved.save
    assert saved.save(validate: false)
  end

  # ActiveModel asks numbers whether they are `in?` a range, and does not bring the method.
  def test_numbers_in_a_range
    person = model(:InRange) do
      self.table_name = "authors"
      validates :age, numericality: {in: 1..9}
    end

    assert_equal [true, false], [9, 10].map { |age| person.new(age: age).valid? }
  end

  def test_contexts
    person = model(:InContext) do
      self.table_name = "authors"
      validates :email, presence: true, on: :publishing
    end
    one = person.new(name: "x")

    assert_predicate one, :valid?
    refute one.valid?(:publishing)
    refute one.save(context: :publishing)
    assert one.save
  end

  def test_associated_objects
    author = Author.new(name: "Ann")
    author.posts.build.comments.build
    author.posts.first.tags.build

    assert_predicate author, :valid?
    model(:Essay) do
      self.table_name = "posts"
      validates :title, presence: true
    end
    writer = model(:Writer) do
      self.table_name = "authors"
      has_many :essays, class_name: "ValidationsTest::Essay", foreign_key: :author_id
    end
    fresh = writer.new(name: "Ann")
    fresh.essays.build

    refute_predicate fresh, :valid?
    assert_equal ["Essays is invalid"], fresh.errors.full_messages
  end

  def test_a_message_of_one_s_own
    person = model(:Messaged) do
      self.table_name = "authors"
      validates :name, presence: {message: "is needed"}
    end

    assert_equal "Validation failed: Name is needed", assert_raises(Pelton::Record::Invalid) { person.create! }.message
  end
end
