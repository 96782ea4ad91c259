# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebAcceptTest < PeltonTest
  def test_the_best
    {nil => "a/b", "" => "a/b", "*/*" => "a/b", "c/d" => "c/d", "c/*, a/b;q=0.5" => "c/d",
     "a/b;q=0.1,c/d;q=0.2" => "c/d", "x/y" => nil, "x/y, */*;q=0.1" => "a/b"}.each do |header, type|
      type.nil? ? assert_nil(best(header), header) : assert_equal(type, best(header), header.inspect)
    end
  end

  def test_malformed_ranges_do_not_count
    [",;q=", "/", "a", "a/", "/b", "\xff/b", "*/", "a/b c/d", ",,,"].each do |header|
      assert_nil best(header), header.inspect
    end
    assert_equal "c/d", best(",/,c/d;q=x;;,a")
    assert_nil best("x/y," * 1000 + "a/b")
  end

  private

  def best(header) = Pelton::Web::Accept.best(header, %w[a/b c/d])
end
