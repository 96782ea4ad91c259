# frozen_string_literal: true

require_relative "support/blog"

class PersistenceTest < PeltonTest
  include Blog

  def test_saving
    author = Author.new

    assert_equal [false, true, false, nil], [author.save, author.new_record?, author.persisted?, author.to_param]
    assert_raises(Pelton::Record::Invalid) { author.save! }
    author.name = "Ann"

    assert author.save
    assert_equal [false, true, author.id.to_s, [author.id], true], [author.new_record?, author.persisted?, author.to_param, author.to_key, author.previously_new_record?]
    assert author.save!
    refute_predicate author, :previously_new_record?
    assert Author.new.save(validate: false)
  end

  def test_updating
    assert ann.update(name: "Anna", age: 21)
    refute ann.update(name: "")
    assert_raises(Pelton::Record::Invalid) { ann.update!(name: "") }
    assert_equal "Anna", ann.reload.name
    assert ann.update_attribute(:name, "")
    assert ann.update_columns(name: "direct", age: "5")
    assert_equal ["direct", 5, false], [ann.name, ann.age, ann.changed?]
    assert_equal ["direct", 5], ann.reload.then { |author| [author.name, author.age] }
    assert ann.update_column(:age, 6)
    assert_raises(Pelton::Record::NotSaved) { Author.new.update_columns(age: 1) }
  end

  def test_destroying
    assert_equal ann, ann.destroy
    assert_equal [true, false], [ann.destroyed?, ann.persisted?]
    refute Author.exists?(ann.id)
    assert_raises(Pelton::Record::NotFound) { ann.reload }
    assert_equal bob, bob.destroy!
    assert_predicate Author.new.destroy, :destroyed?
    assert_equal cid, cid.delete
    assert_predicate cid.delete, :destroyed?
  end

  def test_counting
    other = Author.find(ann.id)
    ann.increment!(:age)
    other.increment!(:age, 2)

    assert_equal [21, 22, 23], [ann.age, other.age, ann.reload.age]
    assert_equal 22, ann.decrement!(:age).reload.age
    assert_equal 24, ann.increment(:age, 2).age
    assert_equal 22, ann.reload.age
    assert_equal 1, cid.increment!(:age).reload.age
    ann.age = 30

    assert_equal 31, ann.increment!(:age).reload.age
  end

  def test_toggling
    table(:switches) { TrueClass :on, default: false }
    switch = model(:Switch).create!

    assert_predicate switch.toggle(:on), :on
    assert switch.toggle!(:on)
    refute switch.reload.on
  end

  def test_touching
    ann.update_columns(updated_at: Time.at(0))
    ann.touch

    assert_operator ann.reload.updated_at, :>, Time.now - 60
    ann.touch(:created_at, time: Time.at(5))

    assert_equal [5, 5], [ann.reload.created_at.to_i, ann.updated_at.to_i]
    assert_raises(Pelton::Record::NotSaved) { Author.new.touch }
  end

  def test_identity
    other = Author.find(ann.id)

    assert_equal ann, other
    assert_equal 1, [ann, other].uniq.size
    assert_equal({ann => 1}, {other => 1})
    refute_equal ann, bob
    refute_equal Author.new, Author.new
    refute_equal ann, Post.new
    assert_equal [ann, bob], [bob, ann].sort
  end

  def test_a_copy_is_new
    copy = ann.dup

    assert_equal [true, nil, "Ann", nil], [copy.new_record?, copy.id, copy.name, copy.created_at]
    assert_raises(Sequel::UniqueConstraintViolation) { copy.save! }
  end

  def test_transactions
    people
    assert_raises(KeyError) do
      Author.transaction do
        ann.update!(name: "lost")
        raise KeyError
      end
    end
    assert_equal "Ann", ann.reload.name
    Author.transaction do
      bob.update!(name: "kept")
      Author.transaction(requires_new: true) do
        bob.update!(name: "lost")
        raise Sequel::Rollback
      end
    end

    assert_equal "kept", bob.reload.name
  end

  def test_readonly
    found = Author.readonly.find(ann.id)
    [-> { found.update(name: "x") }, -> { found.destroy }, -> { found.update_columns(name: "x") }, -> { found.touch }, -> { ann.tap(&:readonly!).save }].each do |write|
      assert_raises(Pelton::Record::ReadOnly, &write)
    end
    assert_equal [true, "Ann"], [found.readonly?, Author.first.name]
  end

  def test_another_key
    ann.id = 50
    assert ann.save
    assert_equal [["Ann"], "Ann"], [Author.where(id: 50).pluck(:name), ann.reload.name]
  end

  def test_what_is_no_number_is_not_added
    [nil, "1", {}, [1], Float::NAN, Float::INFINITY].each do |by|
      assert_raises(Pelton::Record::BadValue) { ann.increment!(:age, by) }
      assert_raises(Pelton::Record::BadValue) { ann.decrement!(:age, by) }
    end
    assert_equal 20, ann.reload.age
  end

  def test_what_is_no_hash_is_not_assigned
    [[1], ["x"], [nil], Set[1], 1, 1.5, "x", :x, Object.new].each { |given| assert_raises(ArgumentError, given.inspect) { Author.new(given) } }
  end
end
