# frozen_string_literal: true

require "test_helper"
require_relative "support/blog"

class TogetherTest < PeltonTest
  include Blog

  def setup
    super
    @authors = Array.new(5) { |index| Author.create!(name: "author #{index}") }
    100.times { |index| Post.create!(title: "post #{index}", author: @authors[index % 5]) }
  end

  def test_a_page_over_100_posts_that_reads_their_authors_makes_2_queries
    names = nil

    assert_equal 2, queries { names = Post.order(:id).map { |post| post.author.name } }.size
    assert_equal 100, names.size
    assert_equal "author 3", names[3]
  end

  def test_has_many_and_through
    Post.first.tags.create!(name: "t")

    assert_equal 2, queries { assert_equal [20] * 5, Author.order(:id).map { |author| author.posts.to_a.size } }.size
    assert_equal 2, queries { assert_equal 1, Post.limit(10).order(:id).sum { |post| post.tags.to_a.size } }.size
  end

  def test_associations_of_associations
    assert_equal 3, queries { Post.all.each { |post| post.author.posts.to_a } }.size
  end

  def test_polymorphic_associations
    [@authors[0], Post.first].each { |notable| 2.times { |index| Note.create!(notable: notable, text: "note #{index}") } }

    assert_equal 3, queries { assert_equal [Author, Author, Post, Post], Note.order(:id).map { |note| note.notable.class } }.size
    assert_equal 2, queries { assert_equal 2, Author.all.sum { |author| author.notes.to_a.size } }.size
  end

  def test_fibers_that_use_a_set_at_once_load_it_once
    sent = queries do
      Pelton.run do
        posts = Post.order(:id).to_a
        names = Pelton.map(posts) { |post| post.author.name }

        assert_equal posts.map { |post| post.author.name }, names
      end
    end

    assert_equal 2, sent.size
  end

  def test_a_relation_that_fibers_load_at_once_is_loaded_once
    Pelton.run do
      posts = Post.where(title: "post 1")

      assert_equal(1, queries { assert_equal 10, Array.new(10) { Pelton.spawn { posts.to_a.first } }.map(&:await).uniq(&:object_id).size.then { |objects| objects * 10 } }.size)
    end
  end

  # Each query parks its fiber, as those of a server do.
  def test_nobody_sees_a_load_that_is_not_done
    database.statistics.on_query { sleep 0.001 if Pelton.running? }
    Note.create!(notable: @authors[0], text: "n")
    Pelton.run do
      assert_equal 100, Pelton.map(Post.order(:id).to_a) { |post| post.author.name }.size
      assert_equal [20] * 5, Pelton.map(Author.order(:id).to_a) { |author| author.posts.to_a.size }
      assert_equal(@authors.first(1) * 3, Note.all.to_a.then { |notes| Pelton.map([notes[0]] * 3, &:notable) })
    end
  end

  def test_an_association_that_could_not_be_loaded_is_loaded_later
    posts = Post.order(:id).limit(3).to_a
    database.rename_table(:authors, :elsewhere)
    Pelton.run do
      assert_raises(Sequel::DatabaseError) { posts[0].author }
      database.rename_table(:elsewhere, :authors)

      assert_equal ["author 0", "author 1", "author 2"], posts.map { |post| post.author.name }
    end
  end

  def test_a_load_that_fails_fails_and_the_next_one_loads
    Pelton.run do
      relation = Post.where(Sequel.lit("nonsense ="))

      assert_raises(Sequel::DatabaseError) { relation.to_a }
      assert_raises(Sequel::DatabaseError) { relation.to_a }
    end
  end

  # As the guide says: asking again at each use would cost pages a fourth of their time.
  def test_what_was_loaded_for_another_object_stays_until_it_is_reloaded
    posts = people.first(2).map { |author| Post.create!(title: "by", author: author) }
    first, second = Post.where(id: posts.map(&:id)).order(:id).to_a
    first.author
    Author.update_all(name: "new")

    assert_equal %w[Bob new], [second.author.name, second.reload_author.name]
    assert_equal "new", Post.find(second.id).author.name
  end
end
