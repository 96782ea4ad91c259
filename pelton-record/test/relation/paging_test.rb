# frozen_string_literal: true

require_relative "../support/blog"

class PagingTest < PeltonTest
  include Blog

  def test_pages_by_number
    posts(7)

    pages = (1..4).map { |number| Post.order(:status).page(number, limit: 3) }

    assert_equal [%w[1 2 3], %w[4 5 6], %w[7], []], pages.map { |page| page.map(&:title) }
    assert_equal [[7, 3]] * 4, pages.map { |page| [page.total, page.pages] }
  end

  def test_equal_rows_keep_their_places
    posts(9)

    [Post.order(:status), Post.order(status: :desc), Post.all, Post.order(:status, id: :desc)].each do |rows|
      expected = rows.to_a.size
      numbered = (1..3).flat_map { |number| rows.page(number, limit: 3).map(&:id) }

      assert_equal expected, numbered.uniq.size
      assert_equal numbered, walk(rows, 3), rows.to_sql
    end
  end

  def test_the_model_and_its_associations_have_pages
    posts(2)
    ann.posts.create!(title: "3")

    assert_equal [%w[1], %w[1 2 3], %w[1 2 3]], [Post.page(limit: 1), ann.posts.page, ann.posts.keyset].map { |page| page.map(&:title) }
    assert_equal 1, Post.keyset(limit: 1).size
  end

  def test_rows_without_a_key_of_their_own_have_numbered_pages_alone
    posts(4)
    names = Post.select(:status).distinct

    assert_equal [2, [nil, nil]], names.order(:status).page(1, limit: 1).then { |page| [page.total, [page.first.values[:id], names.page(2, limit: 1).first.values[:id]]] }
    assert_equal 2, Post.select(:status).group(:status).order(:status).page(1, limit: 1).total
    assert_raises(ArgumentError) { Post.group(:status).keyset }
    assert_raises(ArgumentError) { Author.eager_load(:posts).keyset }
  end

  def test_associations_are_loaded_for_a_page
    posts(3)

    assert_equal 2, queries { assert_equal %w[Ann Ann], Post.includes(:author).keyset(limit: 2).map { |post| post.author.name } }.size
    assert_equal %w[Ann Bob], Author.eager_load(:posts).where(id: [ann.id, bob.id]).page(1, limit: 2).map(&:name)
    assert_equal [3], Post.joins(:author).where(authors: {name: "Ann"}).order("posts.title").page(1, limit: 2).then { |page| [page.total] }
    assert_equal %w[1 2 3], walk(Post.joins(:author).order(:title), 1).map { |id| Post.find(id).title }
  end

  def test_what_is_refused
    [0, -1, "1", nil, 1.5].each do |wrong|
      assert_raises(ArgumentError) { Post.page(wrong) }
      assert_raises(ArgumentError) { Post.page(1, limit: wrong) }
      assert_raises(ArgumentError) { Post.keyset(limit: wrong) }
    end
    assert_match(/has a limit/, assert_raises(ArgumentError) { Post.limit(3).page }.message)
    assert_raises(ArgumentError) { Post.offset(3).keyset }
    assert_raises(ArgumentError) { Post.keyset(after: "a", before: "b") }
    assert_equal 0, queries { assert_empty Post.page(10**30, total: false) }.size
  end

  private

  def posts(count)
    Array.new(count) { |index| Post.create!(author_id: ann.id, title: (index + 1).to_s, status: (index < count / 2) ? :draft : :published) }
  end

  # @return [Array<Integer>] the ids of all pages by their cursors
  def walk(rows, limit)
    page = rows.keyset(limit: limit)
    ids = page.map(&:id)
    while (on = page.links[:next])
      page = rows.keyset(limit: limit, **on)
      ids.concat(page.map(&:id))
    end
    ids
  end
end
