# frozen_string_literal: true

require "test_helper"
require "rack/mock_request"
require "pelton/web"

class WebPageTest < PeltonTest
  # As a dataset of Sequel.
  class Lazy
    attr_reader :asked

    def initialize(rows, limit = nil, offset = 0, asked = [])
      @rows = rows
      @limit = limit
      @offset = offset
      @asked = asked
    end

    def limit(count) = Lazy.new(@rows, count, @offset, @asked)

    def offset(count) = Lazy.new(@rows, @limit, count, @asked << count)

    def count = @rows.size

    def to_a = @rows[@offset, @limit] || []
  end

  def page(list, number, limit: 2, counted: true, path: "/posts", **query)
    env = Rack::MockRequest.env_for("http://example.org#{path}", params: query)
    Pelton::Web::Page.new(Pelton::Web::Page::Slice.new(list, number, limit, counted), Pelton::Web::Request.new(env),
      ->(cursor) { "<#{cursor}>" })
  end

  def test_an_array_s_pages
    assert_equal [[1, 2], [3, 4], [5], []], (1..4).map { |number| page([1, 2, 3, 4, 5], number).to_a }
    assert_equal [5, 3, 2, 2, [3, 4]],
      page([1, 2, 3, 4, 5], 2).then { |one| [one.total, one.pages, one.number, one.size, one.map(&:itself)] }
    assert_equal [true, {first: "/posts?page=1", last: "/posts?page=1"}],
      page([], 1).then { |one| [one.empty?, one.links] }
  end

  def test_a_query_s_pages
    one = page(Lazy.new([1, 2, 3, 4, 5]), 2)
    assert_equal [3, 4], one.to_a
    assert_equal 5, one.total
    far = Lazy.new([1, 2, 3])

    assert_equal [], page(far, 10**30).to_a, "what is beyond the end is not skipped to"
    assert_equal [], far.asked, "what is beyond the end is not skipped to"
    uncounted = page(Lazy.new([1, 2, 3]), 1, counted: false)

    assert_nil uncounted.total
    assert_equal({first: "/posts?page=1", next: "/posts?page=2"}, uncounted.links)
    assert_equal %i[first prev], page(Lazy.new([1, 2, 3]), 2, counted: false).links.keys
  end

  def test_links_keep_the_request_s_query
    one = page([1, 2, 3], 1, q: "a b&", tags: %w[x y], page: "1", after: "z", size: "2")

    assert_equal "/posts?q=a+b%26&tags%5B%5D=x&tags%5B%5D=y&size=2&page=2", one.links[:next]
    assert_equal "/posts?q=a+b%26&tags%5B%5D=x&tags%5B%5D=y&size=2&page=7", one.path(page: 7)
    assert_equal "/posts?after=%3Cc%3E", page([], 1).path(after: "c")
  end

  def test_a_link_header_cannot_be_left
    env =
      Rack::MockRequest.env_for("http://example.org/")
        .merge("PATH_INFO" => "/a>; rel=\"x\"\r\né?", "QUERY_STRING" => "q=%3E%22%0D%0A")
    one = Pelton::Web::Page.new(Pelton::Web::Page::Slice.new([1, 2, 3], 2, 1, true), Pelton::Web::Request.new(env), nil)

    assert_equal '<http://example.org/a%3E;%20rel=%22x%22%0D%0A%C3%A9%3F?q=%3E%22%0D%0A&page=1>; rel="first"',
      one.link_header.split(", ").first
    assert_equal %w[first prev next last], one.link_header.scan(/; rel="(\w+)"(?:,|\z)/).flatten
  end

  def test_json_is_the_elements
    assert_equal "[1,2]", JSON.generate(page([1, 2, 3], 1))
    assert_equal "#<Pelton::Web::Page number=1 limit=2>", page([1], 1).inspect
  end
end
