# frozen_string_literal: true

require "test_helper"
require_relative "../../support/web_program"

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
        get("/") do
          render html: "<title>é</title><ul><li class=post>One <b>\n two</b><li class=post>Three</ul><ol>" \
            "<li>Four</ol><input name='post[title]' value='a\"b'>"
        end
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
    assert_select "li", 3
    assert_select "li", /^T/
    assert_select "table", false
    assert_select "input[name=?][value=?]", "post[title]", 'a"b'
    assert_select("ul") { assert_select "li", 2 }
    assert_equal 3, css_select("li").size
    fails { assert_select "li", "Five" }
    fails { assert_select "li", 2 }
    fails { assert_select("ol") { assert_select "li.post" } }
    get "/other"
    assert_select "p", "other"
    assert_select "li", false
    puts "done"
  RUBY

  def test_elements_are_found_or_not = assert_equal("done\n", web_output(PROGRAM))
end
