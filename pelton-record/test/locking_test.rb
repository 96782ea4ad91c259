# frozen_string_literal: true

require_relative "support/blog"

class LockingTest < PeltonTest
  include Blog

  def setup
    super
    table(:articles) do
      String :title
      Integer :lock_version
    end
    @model = model(:Article)
  end

  def test_a_write_over_another_s_is_refused
    mine = @model.create!(title: "one")
    theirs = @model.find(mine.id)
    theirs.update!(title: "two")

    assert_equal [0, 1], [mine.lock_version, theirs.lock_version]
    assert_raises(Pelton::Record::Stale) { mine.update(title: "three") }
    assert_raises(Pelton::Record::Stale) { mine.destroy }
    assert_equal "two", mine.reload.title
    assert mine.update(title: "three")
    assert_equal 2, mine.reload.lock_version
    mine.destroy

    assert_equal 0, @model.count
  end

  def test_a_row_that_is_gone
    article = @model.create!(title: "one")
    @model.delete_all

    assert_raises(Pelton::Record::Stale) { article.update!(title: "x") }
    author = Author.find(ann.id)
    Author.delete_all

    assert_raises(Pelton::Record::Stale) { author.update!(name: "x") }
  end

  def test_locks
    article = @model.create!(title: "one")
    @model.where(id: article.id).update_all(title: "two")

    assert_equal "two", article.with_lock { article.title }
    article.title = "three"

    assert_raises(Pelton::Record::NotSaved) { article.lock! }
    assert_equal "two", @model.transaction { @model.find(article.id).lock!.title }
  end
end
