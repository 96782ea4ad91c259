# frozen_string_literal: true

require "pelton/web"
require "pelton/sequel"
require_relative "../support/controllers"

class WebControllerPagingTest < PeltonTest
  include WebControllers

  def setup
    super
    @database = Pelton::Sequel.connect("sqlite::memory:")
    @database.create_table(:letters) do
      primary_key :id
      String :name
      Integer :rank
    end
    @database[:letters].multi_insert(("a".."e").map { |name| {name: name, rank: nil} })
    @letters = Class.new(Sequel::Model(@database[:letters]))
  end

  def teardown
    Pelton::Sequel.disconnect
    super
  end

  def app(list, **options)
    answering do
      page = link_pages(paginate(list, **options))
      render plain: page.map { |one| one.respond_to?(:name) ? one.name : one[:name] }.join
    end
  end

  def get(app, path = "/") = request(app, "GET", path)

  # @return [Hash{String => String}] addresses by their relation
  def links(answer) = answer["link"].to_s.scan(/<([^>]*)>; rel="(\w+)"/).to_h(&:reverse)

  def test_by_number
    [app(@letters.order(:id), limit: 2), app(@database[:letters].order(:id), limit: 2),
      app(@letters.order(:id).all, limit: 2)].each do |pages|
      answer = get(pages, "/?page=2&q=x")

      assert_equal "cd", answer.body
      assert_equal({"first" => 1, "prev" => 1, "next" => 3, "last" => 3}
        .transform_values { |number| "http://example.org/?q=x&page=#{number}" }, links(answer))
      assert_equal "ab", get(pages).body
      assert_equal "", get(pages, "/?page=99999999999").body
      assert_equal "abcde", get(pages, "/?limit=100").body
      assert_equal %w[first last], links(get(pages, "/?limit=5")).keys
    end
  end

  def test_by_cursor
    pages = app(@letters.order(:rank, Sequel.desc(:name)), by: :cursor, limit: 2)
    first = get(pages)
    second = get(pages, links(first)["next"])
    third = get(pages, links(second)["next"])

    assert_equal %w[ed cb a], [first, second, third].map(&:body)
    assert_equal [%w[first next], %w[first prev next], %w[first prev]],
      [first, second, third].map { |answer| links(answer).keys }
    assert_equal "cb", get(pages, links(third)["prev"]).body
    assert_equal first["link"], get(pages)["link"], "a page's address stays the same, and so does its entity tag"
  end

  def test_a_cursor_that_was_changed_is_a_bad_request
    pages = app(@letters.order(:name), by: :cursor, limit: 2)
    cursor = links(get(pages))["next"][/after=(.*)/, 1]
    other = links(get(app(@letters.order(:id), by: :cursor, limit: 2)))["next"][/after=(.*)/, 1]
    unsigned = @letters.order(:name).pelton_page(per: 2).links[:next][:after]

    assert_equal "cd", get(pages, "/?after=#{cursor}").body
    [cursor.succ, cursor[0..-5], "x", unsigned, other, "%00", "x" * 5000].each do |bad|
      assert_equal 400, get(pages, "/?after=#{bad}").status, bad[0, 60]
    end
    assert_equal 400, get(pages, "/?after=#{cursor}&before=#{cursor}").status
    assert_equal 422, get(pages, "/?after[]=x").status
    assert_equal 422, get(pages, "/?after=#{"x" * 9000}").status
  end

  def test_numbers_are_bounded
    pages = app(@letters.order(:id), limit: 2, max_limit: 3)

    %w[page=0 page=-1 page=x page=1.5 page[]=1 page=99999999999999999999 limit=0 limit=4 limit=x].each do |query|
      assert_equal 422, get(pages, "/?#{query}").status, query
    end
    assert_equal "abc", get(pages, "/?limit=3").body
  end

  def test_what_has_no_pages
    assert_raises(ArgumentError) { get(app([1], by: :cursor)) }
    assert_raises(ArgumentError) { get(app([1], by: :name)) }
    assert_raises(ArgumentError) { get(app(@letters.order(Sequel.lit("1")), by: :cursor)) }
  end

  def test_other_links_stay
    answer = request(answering do
      headers["link"] = "</style.css>; rel=\"preload\""
      link_pages(paginate([1]))
      head 200
    end, "GET", "/")

    assert_equal '</style.css>; rel="preload", <http://example.org/?page=1>; rel="first", ' \
      '<http://example.org/?page=1>; rel="last"', answer["link"]
  end
end
