# frozen_string_literal: true

require "test_helper"
require "rack/mock_request"
require "pelton/web"
require "pelton/web/views/view"

class WebPagesTest < PeltonTest
  def links(count, number, counted: true, **options)
    request = Pelton::Web::Request.new(Rack::MockRequest.env_for("/list?q=%3C&x"))
    list = Array.new(count) { |index| index }
    unless counted
      list = Struct.new(:rows, :from) { def limit(_) = self }.new(list).tap do |query|
        query.define_singleton_method(:offset) { |from| rows.drop(from) }
      end
    end
    Pelton::Web::View.new.page_links(
      Pelton::Web::Page.new(Pelton::Web::Page::Slice.new(list, number, 1, counted), request, nil), **options
    )
  end

  def test_pages_that_have_numbers
    assert_equal '<nav class="pages" aria-label="Pages">' \
      '<a href="/list?q=%3C&amp;x&amp;page=1" rel="prev">Previous</a> <a href="/list?q=%3C&amp;x&amp;page=1">1</a> ' \
      '<span aria-current="page">2</span> ' \
      '<a href="/list?q=%3C&amp;x&amp;page=3">3</a> <a href="/list?q=%3C&amp;x&amp;page=3" rel="next">Next</a>' \
      "</nav>", links(3, 2)
  end

  def test_gaps
    assert_equal ["1 2 3 4 5 … 20", "1 … 8 9 10 11 12 … 20", "1 … 16 17 18 19 20", "1 … 10 … 20", "1 … 3"],
      [links(20, 3), links(20, 10), links(20, 18), links(20, 10, around: 0),
        links(3, 9)].map { |html| html.gsub(/<[^>]*>/, "").delete_prefix("Previous ").delete_suffix(" Next") }
  end

  def test_pages_without_numbers
    assert_equal ["Previous Next", "zurück weiter"], [
      links(9, 2, counted: false),
      links(9, 2, counted: false, previous: "zurück", following: "weiter")
    ].map { |html| html.gsub(/<[^>]*>/, "") }
  end

  def test_one_page_needs_no_links
    assert_equal "", links(1, 1)
    assert_equal "", links(0, 1)
  end

  def test_attributes_and_hostile_texts
    html = links(2, 1, following: "<b>", class: "mine", id: '"x')

    assert_includes html, '<nav class="mine" aria-label="Pages" id="&quot;x">'
    assert_includes html, "&lt;b&gt;"
  end
end
