# frozen_string_literal: true

require "test_helper"
require_relative "../support/web_program"

class WebSelectingTest < PeltonTest
  include WebProgram

  PROGRAM = <<~'RUBY'
    require "minitest"
    require "minitest/assertions"
    require "pelton/web/test"
    include Minitest::Assertions
    include Pelton::Web::Test
    self.class.attr_accessor :assertions
    self.assertions = 0
    APP = Class.new(Pelton::Web::Application) do
      settings.environment = "test"
      routes do
        get("/") { render html: "<title>é</title><ul><li class=post>One <b>\n two</b><li class=post>Three</ul><ol><li>Four</ol><input name='post[title]' value='a\"b'>" }
        get("/other") { render html: "<p>other" }
      end
    end
    def app = APP
    def fails
      yield
      puts "passed, but should not: #{caller_locations(1, 1)}"
    rescue Minitest::Assertion => error
      error.message
    end

    get "/"
    assert_select "title", "é"
    assert_select "li"
    assert_select "li", 3
    assert_select "li.post", 2..3
    assert_select "li.post", text: "One two", count: 1
    assert_select "li", /^T/
    assert_select "table", false
    assert_select "li", minimum: 2, maximum: 3
    assert_select "li", maximum: 3
    assert_select "input[name=?][value=?]", "post[title]", 'a"b'
    seen = assert_select("ul") do |lists|
      assert_select "li", 2
      assert_select("li.post") { assert_select "b", 1 }
      assert_equal 1, lists.size
    end
    assert_equal %w[ul], seen.map(&:name)
    assert_equal 3, css_select("li").size
    puts fails { assert_select "li", "Five" }
    fails { assert_select "li", 2 }
    fails { assert_select "li", maximum: 2 }
    fails { assert_select "table" }
    fails { assert_select("ol") { assert_select "li.post" } }
    fails { assert_select "li", false }
    begin
      assert_select "a[href=?]"
    rescue ArgumentError => error
      puts error.message
    end
    get "/other"
    assert_select "p", "other"
    assert_select "li", false
    puts "done"
  RUBY

  def test_elements_are_found_or_not
    first, *rest = web_output(PROGRAM).lines(chomp: true)

    assert_match(/\A1\.\. elements li with the text "Five" were expected, and 0 are there; their texts are \["One \\n two", "Three", "Four"\]/, first)
    assert_equal ["no value for a ? in a[href=?]", "done"], rest.last(2)
    assert_empty rest.grep(/should not/)
  end
end
