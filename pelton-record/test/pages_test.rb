# frozen_string_literal: true

require_relative "support/blog"

class PagesTest < PeltonTest
  include Blog

  def setup
    super
    5.times { |index| Tag.create!(name: index.to_s) }
  end

  def test_links_of_numbered_pages
    {1 => {first: {page: 1}, next: {page: 2}, last: {page: 3}}, 2 => {first: {page: 1}, prev: {page: 1}, next: {page: 3}, last: {page: 3}}, 3 => {first: {page: 1}, prev: {page: 2}, last: {page: 3}},
     9 => {first: {page: 1}, prev: {page: 3}, last: {page: 3}}}.each do |number, links|
      assert_equal links, Tag.page(number, limit: 2).links
    end
    assert_equal({first: {page: 1}, last: {page: 1}}, Tag.where(id: -1).page.links)
  end

  def test_pages_that_are_not_counted
    page = Tag.order(:name).page(2, limit: 2, total: false)

    assert_equal [{first: {page: 1}, prev: {page: 1}, next: {page: 3}}, nil, nil], [page.links, page.total, page.pages]
    assert_equal({first: {page: 1}, prev: {page: 2}}, Tag.page(3, limit: 2, total: false).links)
  end

  def test_what_is_asked_of_the_database
    assert_equal 0, queries { Tag.page(2, limit: 2) }.size
    assert_equal 1, queries { Tag.page(1, limit: 5).then { |page| [page.to_a, page.total, page.links] } }.size, "a first page with room left needs no count"
    assert_equal 2, queries { Tag.page(2, limit: 2).then { |page| [page.to_a, page.total, page.links] } }.size
    assert_equal 1, queries { Tag.page(1_000_000, limit: 2).to_a }.size, "what is beyond the end is not skipped to"
    assert_equal 1, queries { Tag.keyset(limit: 2).then { |page| [page.to_a, page.links] } }.size
  end

  def test_links_of_pages_with_cursors
    first = Tag.order(:name).keyset(limit: 2)
    second = Tag.order(:name).keyset(limit: 2, **first.links[:next])
    third = Tag.order(:name).keyset(limit: 2, **second.links[:next])

    assert_equal [%w[0 1], %w[2 3], %w[4]], [first, second, third].map { |page| page.map(&:name) }
    assert_equal [%i[first next], %i[first prev next], %i[first prev]], [first, second, third].map { |page| page.links.keys }
    back = Tag.order(:name).keyset(limit: 2, **third.links[:prev])

    assert_equal [%w[2 3], %i[first prev next]], [back.map(&:name), back.links.keys]
    assert_equal [%w[0 1], %i[first next]], Tag.order(:name).keyset(limit: 2, **back.links[:prev]).then { |page| [page.map(&:name), page.links.keys] }
    assert_equal [nil, nil, nil], [first.number, first.total, first.pages]
  end

  def test_rows_that_come_and_go_move_nothing
    first = Tag.order(:name).keyset(limit: 2)
    cursor = first.links[:next]
    Tag.create!(name: "00")
    first.to_a.last.destroy

    assert_equal %w[2 3], Tag.order(:name).keyset(limit: 2, **cursor).map(&:name)
    assert_equal({first: {}}, Tag.where(id: -1).order(:name).keyset(**cursor).links)
  end

  def test_a_page_is_a_list
    page = Tag.order(:name).page(1, limit: 2)

    assert_equal [2, "0", false, %w[0 1], 1, 2], [page.size, page.first.name, page.empty?, page.each.map(&:name), page.number, page.limit]
    assert_equal %w[0 1], JSON.parse(page.to_json).map { |tag| tag["name"] }
    assert_equal page.to_a.as_json, page.as_json
    assert_equal [["0", 0], ["1", 1]], page.each_with_index.map { |tag, index| [tag.name, index] }
  end
end
