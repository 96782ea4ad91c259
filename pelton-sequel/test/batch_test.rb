# frozen_string_literal: true

require_relative "support/sequel_databases"
require "pelton/sequel/batch"

class BatchTest < PeltonTest
  include SequelDatabases

  Batch = Pelton::Sequel::Batch

  def setup
    super
    @database = connect
    create_people(@database)
    @ann, @bob = %w[ann bob].map { |email| @database[:people].insert(email: email) }
    @people = Class.new(Sequel::Model(@database[:people])) { plugin :pelton_merging }
    @people.unique_columns
  end

  def test_a_batch_of_one_is_alone
    assert_predicate Batch.new(@people, :id, 1), :alone?
  end

  def test_those_who_join_share_a_query
    found, sent = shared(:id, @ann, @bob)

    assert_equal [@people[@ann], @people[@bob]], found
    assert_equal 1, sent
  end

  def test_a_text_that_the_rows_do_not_have_is_asked_for_alone
    found, sent = shared(:email, "ann", "nobody")

    assert_equal [@people[@ann], nil], found
    assert_equal 2, sent
  end

  def test_those_with_the_same_key_get_objects_and_values_of_their_own
    found, = shared(:email, "ann", "ann")

    assert_equal 1, found.uniq.size
    found.first.email << "!"
    assert_equal "ann", found.last.email
  end

  def test_a_caller_that_is_cancelled_while_the_query_is_under_way_leaves_it_to_the_others
    gate = Pelton::Operation.new
    slow = Module.new { define_method(:all) { |*arguments| gate.await.then { super(*arguments) } } }
    @people.define_singleton_method(:dataset) { super().with_extend(slow) }
    Pelton.run do
      batch = Batch.new(@people, :id, @ann)
      bob = Pelton.spawn { batch.join(@bob) }
      Pelton::Reactor.current.yield
      batch.start
      ann = Pelton.spawn { batch.wait(@ann) }
      2.times { Pelton::Reactor.current.yield }
      ann.cancel
      2.times { Pelton::Reactor.current.yield }
      gate.succeed

      assert_equal "bob", bob.await.email
    end
  end

  private

  # What two fibers find, and how many queries were sent for it.
  def shared(column, first, second)
    Pelton.run do
      batch = Batch.new(@people, column, first)
      other = Pelton.spawn { batch.join(second) }
      Pelton::Reactor.current.yield
      before = @database.stats[:queries]
      batch.start
      [[batch.wait(first), other.await], @database.stats[:queries] - before]
    end
  end
end
