# frozen_string_literal: true

require_relative "support/blog"

class TransactionsTest < PeltonTest
  include Blog

  def setup
    super
    @seen = seen = []
    @watched = model(:Watched) do
      self.table_name = "authors"
      after_commit { seen << [:commit, written_by] }
      after_rollback { seen << [:rollback, written_by] }
      after_commit(on: :create) { seen << :created }
    end
  end

  def test_a_rolled_back_create
    author = Author.new(name: "x")
    Author.transaction { author.save! && raise(Sequel::Rollback) }
    assert_equal [true, nil, false], [author.new_record?, author.id, author.persisted?]
    assert_includes author.changed, "name"
    refute author.saved_changes?
    author.save!
    assert_equal [author], Author.all.to_a
  end

  def test_a_rolled_back_update_and_destruction
    ann
    Author.transaction { ann.update!(name: "Anna") && raise(Sequel::Rollback) }
    assert_equal [{"name" => %w[Ann Anna]}, {}], [ann.changes.slice("name"), ann.saved_changes]
    ann.save!
    assert_equal "Anna", ann.reload.name
    Author.transaction { ann.destroy && raise(Sequel::Rollback) }
    assert_equal [false, true], [ann.destroyed?, ann.persisted?]
  end

  def test_savepoints
    author = Author.new(name: "x")
    Author.transaction do
      author.save!
      Author.transaction(requires_new: true) { author.update!(age: 5) && raise(Sequel::Rollback) }
      assert_equal [false, ["age"]], [author.new_record?, author.changed - ["updated_at"]]
      Author.transaction(requires_new: true) { author.update!(age: 6) }
      raise Sequel::Rollback
    end
    assert_equal [true, nil, 6], [author.new_record?, author.id, author.age]
  end

  def test_callbacks_run_once_a_transaction
    one = @watched.new(name: "x")
    Author.transaction { one.save! && one.update!(age: 1) }
    assert_equal [[:commit, :create], :created], @seen
    @seen.clear
    Author.transaction { one.update!(age: 2) && one.destroy }
    assert_equal [[:commit, :destroy]], @seen
  end

  def test_what_a_savepoint_rolls_back_is_not_committed
    one = nil
    Author.transaction { Author.transaction(requires_new: true) { (one = @watched.create!(name: "x")) && raise(Sequel::Rollback) } }
    assert_equal [[:rollback, :create]], @seen
    assert one.new_record?
  end

  def test_an_error_after_the_row_is_written
    failing = model(:Failing) do
      self.table_name = "authors"
      after_create { raise "no" }
    end
    one = failing.new(name: "x")
    assert_raises(RuntimeError) { one.save }
    assert_equal [true, nil, 0], [one.new_record?, one.id, Author.count]
  end

  def test_a_callback_that_writes_again
    again = model(:Again) do
      self.table_name = "authors"
      after_create_commit { update!(age: 9) }
    end
    assert_equal 9, again.create!(name: "x").reload.age
  end

  def test_retries_without_end
    tries = 0

    assert_equal 10, Author.transaction(retry_on: [IOError], num_retries: nil) { ((tries += 1) < 10) ? raise(IOError) : tries }
  end
end
