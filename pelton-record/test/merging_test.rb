# frozen_string_literal: true

require_relative "support/blog"

# What Record adds: casts, names and settings. The rest is tested in pelton-sequel.
class MergingTest < PeltonTest
  include Blog

  SHARED = / IN | = ANY/

  # Keys that are texts, unlike most.
  class Page < Pelton::Record::Model
    self.table_name = :merged_pages
    self.primary_key = :slug
  end

  def setup
    super
    Tag.insert_all(Array.new(1000) { |index| {name: "tag #{index}"} })
    @ids = Tag.order(:id).ids
    people
    Author.unique_columns
  end

  def teardown
    Pelton::Record::Model.merge_finds = true
    super
  end

  def test_a_thousand_finds_of_a_thousand_fibers
    found = nil
    before = database.statistics.merged

    assert_operator queries { found = together(@ids) { |id| Tag.find(id).name } }.size, :<=, 20
    assert_equal Array.new(1000) { |index| "tag #{index}" }, found
    assert_equal 999, database.statistics.merged - before
  end

  def test_each_gets_an_object_of_its_own
    found = together([@ids[0]] * 3) { |id| Tag.find(id) }

    assert_equal 1, found.uniq.size
    assert_equal 3, found.uniq(&:object_id).size
    found[0].name << "changed"

    assert_equal "tag 0", found[1].name
  end

  def test_find_by_a_unique_column
    assert_equal(1, queries { assert_equal [ann, bob, nil], together(["ann@example.com", "bob@example.com", "nobody"]) { |email| Author.find_by(email: email) } }.grep(SHARED).size)
    assert_equal 2, queries { together(%w[Ann Bob]) { |name| Author.find_by(name: name) } }.size
  end

  def test_strings_are_compared_as_the_database_does
    ids = together(["ann@example.com", "ANN@EXAMPLE.COM", "bob@example.com"]) { |email| Author.find_by(email: email)&.id }
    alone = ["ann@example.com", "ANN@EXAMPLE.COM", "bob@example.com"].map { |email| Author.find_by(email: email)&.id }

    assert_equal alone, ids
  end

  def test_keys_are_typed
    assert_equal(1, queries { assert_equal [ann, ann, bob], together([ann.id, ann.id.to_s, "0#{bob.id}"]) { |id| Author.find(id) } }.size)
  end

  def test_what_is_missing_is_missing_for_its_fiber_alone
    results = together([ann.id, 99_999, bob.id]) do |id|
      Author.find(id)
    rescue Pelton::Record::NotFound => error
      error.message
    end

    assert_equal [ann, "no Blog::Author has the id 99999", bob], results
  end

  def test_never_with_a_lock_or_a_condition
    assert_empty queries { together(@ids.first(2)) { |id| Tag.lock.find(id) } }.grep(SHARED)
    assert_equal 2, queries { together(@ids.first(2)) { |id| Tag.where("id > 0").find(id) } }.size
    assert_equal 2, queries { together(@ids.first(2)) { |id| Tag.select(:id).find(id) } }.size
  end

  # MySQL would take 0 for each text that is no number.
  def test_a_number_as_the_key_of_texts
    pages
    errors = together([0, 1, "home", :home, 1.5]) do |key|
      Page.find(key).body
    rescue Pelton::Record::NotFound => error
      error.message
    end

    assert_equal ["no #{Page} has the slug 0", "no #{Page} has the slug 1", "x", "x", "no #{Page} has the slug 1.5"], errors
    assert_nil Page.find_by(code: 0)
    assert_empty Page.where(code: 0).to_a
    assert_empty Page.where(code: [0, 1]).to_a
  end

  POISON = ["a\0b", "\xFF\xFE", "\xE2\x28".b, "\u{1f600}", "x" * 2_000_000, "x" * 1000, "", " ", "'", "\\"].freeze

  # Each finds what it finds alone, whatever others ask for in the same turn.
  def test_a_key_that_no_row_can_have_is_its_fibers_alone
    pages
    [->(key) { Page.find_by(slug: key) }, ->(key) { Page.find_by(code: key) }].zip(%w[home c-home]) do |find, good|
      POISON.each do |key|
        assert_equal ["home"] * 5 + [nil] + ["home"] * 5, together([good] * 5 + [key] + [good] * 5) { |one| find.call(one)&.slug }, key[0, 10].inspect
      end
    end
  end

  # What the server refuses though it looks like a key.
  def test_when_the_shared_query_fails_each_asks_alone
    shared = queries { assert_equal [ann, bob], together([ann.id, bob.id]) { |id| Author.find(id) } }.grep(SHARED)
    batch = Pelton::Sequel::Batch
    failing = Module.new { define_method(:query) { @rows.succeed(nil) } }

    refute_empty shared
    found = Pelton.run do
      asked = batch.new(Author, :id, ann.id).extend(failing)
      other = Pelton.spawn { asked.join(bob.id) }
      Pelton::Reactor.current.yield
      asked.start
      [asked.wait(ann.id), other.await]
    end

    assert_equal [ann, bob], found
  end

  def test_off_by_one_setting
    Pelton::Record::Model.merge_finds = false

    assert_equal 10, queries { together(@ids.first(10)) { |id| Tag.find(id) } }.size
  end

  def test_the_error_of_the_query_reaches_all
    database.drop_table(:tags)
    errors = together([1, 2, 3]) do |id|
      Tag.find(id)
    rescue Sequel::DatabaseError => error
      error
    end

    assert_equal 3, errors.grep(Sequel::DatabaseError).uniq(&:object_id).size
    assert(errors.all? { |error| error.backtrace.any? { |line| line.include?("merging_test.rb") } })
  end

  def test_a_cancelled_fiber_does_not_cancel_the_others
    Pelton.run do
      tasks = @ids.first(3).map { |id| Pelton.spawn { Tag.find(id).name } }
      Pelton.next_tick { tasks[0].cancel }
      results = tasks.map do |task|
        task.await
      rescue Pelton::Cancelled
        :cancelled
      end

      assert_equal ["tag 1", "tag 2"], results.last(2)
    end
  end

  def test_what_nobody_waits_for_any_more_is_not_reported
    reported = []
    Pelton.on_error { |error| reported << error }
    Pelton.run do
      tasks = @ids.first(3).map { |id| Pelton.spawn { Tag.find(id) } }
      Pelton::Reactor.current.yield
      tasks.each(&:cancel)
      tasks.each do |task|
        task.await
      rescue Pelton::Cancelled
        nil
      end
    end
    GC.start

    assert_empty reported
  ensure
    Pelton.on_error
  end

  def test_all_that_is_cancelled_ends
    Pelton.run do
      tasks = @ids.first(3).map { |id| Pelton.spawn { Tag.find(id).name } }
      Pelton::Reactor.current.yield
      tasks.each(&:cancel)
      sleep 0.01

      assert(tasks.all?(&:done?))
    end
  end

  private

  def pages
    database.create_table!(:merged_pages) do
      String :slug, size: 50, primary_key: true
      String :code, size: 50, unique: true
      String :body
    end
    Page.send(:forget_table)
    Page.insert_all([{slug: "home", code: "c-home", body: "x"}, {slug: "away", code: "c-away", body: "y"}])
  end

  # What the block gives for each value, in fibers that begin in the same turn.
  def together(values, &block)
    Pelton.run { values.map { |value| Pelton.spawn { block.call(value) } }.map(&:await) }
  end
end
