# frozen_string_literal: true

require_relative "../support/blog"

class BatchesTest < PeltonTest
  include Blog

  def setup
    super
    Tag.insert_all(Array.new(7) { |index| {name: "tag #{index}"} })
    @ids = Tag.order(:id).ids
  end

  def test_find_each
    seen = []

    assert_equal 4, queries { assert_nil(Tag.find_each(batch_size: 2) { |tag| seen << tag.id }) }.size
    assert_equal @ids, seen
    assert_equal @ids, Tag.find_each(batch_size: 3).map(&:id)
    assert_equal @ids.reverse, Tag.find_each(batch_size: 3, order: :desc).map(&:id)
    assert_equal @ids[2..4], Tag.find_each(batch_size: 2, start: @ids[2], finish: @ids[4]).map(&:id)
    assert_equal @ids.first(5), Tag.limit(5).find_each(batch_size: 2).map(&:id)
    assert_equal @ids[3..4], Tag.offset(3).limit(2).find_each.map(&:id)
  end

  def test_find_in_batches
    assert_equal [3, 3, 1], Tag.find_in_batches(batch_size: 3).map(&:size)
    assert_equal [1], Tag.where(name: "tag 3").find_in_batches.map(&:size)
  end

  def test_in_batches_gives_relations
    Tag.in_batches(of: 3) { |tags| tags.update_all(name: "new") }

    assert_equal ["new"], Tag.distinct.pluck(:name)
    assert_equal [3, 3, 1], Tag.in_batches(of: 3).map(&:count)
  end

  def test_batches_that_cannot_be
    assert_raises(ArgumentError) { Tag.in_batches(of: 0) {} }
  end

  def test_a_batch_is_read_while_no_connection_is_held
    Pelton.run do
      Tag.find_each(batch_size: 2) { |tag| assert_equal tag, Pelton.spawn { Tag.find(tag.id) }.await }
    end
  end

  def test_what_is_done_with_each_batch
    people
    batches = Author.in_batches(of: 2)
    assert_equal [3, [1] * 3], [batches.update_all(age: 1), Author.pluck(:age)]
    assert_equal [Author.order(:id).ids, 3], [batches.each_record.map(&:id).sort, Author.find_each.size]
    assert_equal [3, 0], [batches.delete_all, Author.count]
  end

  def test_limits_are_values_of_the_key
    assert_equal @ids, Tag.find_each(start: @ids.first.to_s, finish: 2**70).map(&:id)
    ["abc", "", 2**70].each { |start| assert_empty Tag.find_each(start: start).to_a }
    [{}, [1], {"a" => "b"}].each { |start| assert_raises(Pelton::Record::BadValue) { Tag.find_each(start: start).to_a } }
  end
end
