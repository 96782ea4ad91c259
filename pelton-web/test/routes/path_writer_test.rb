# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebRoutesPathWriterTest < PeltonTest
  def test_it_writes_what_the_pattern_matches
    assert_equal "/posts/5", write("/posts/:id(.:format)", id: 5)
    assert_equal "/posts/5.json", write("/posts/:id(.:format)", id: 5, format: "json")
    assert_equal "/a", write("/a(/:b(/:c))")
    assert_equal "/a/1/2", write("/a(/:b(/:c))", b: 1, c: 2)
    assert_equal "/caf%C3%A9/x%20y-%2Fz", write("/café/:a-:b", a: "x y", b: "/z")
    assert_equal "/files/a/b%20c", write("/files/*path", path: "a/b c")
    assert_equal "/files/a/b/by/c%2Fd", write("/files/*path/by/:id", path: "a/b", id: "c/d")
    assert_equal "/", write("/")
  end

  def test_an_object_gives_its_parameter
    assert_equal "/posts/7-title", write("/posts/:id", id: Struct.new(:to_param).new("7-title"))
  end

  def test_values_that_make_no_path_are_refused
    [nil, "", ".", ".."].each { |value| assert_raises(ArgumentError, value.inspect) { write("/posts/:id", id: value) } }
    ["../a", "a//b", "/a", "a/..", "a/./b"].each do |value|
      assert_raises(ArgumentError, value) { write("/files/*path", path: value) }
    end
    assert_raises(ArgumentError) do
      Pelton::Web::Routes::PathWriter.new(Pelton::Web::Routes::Pattern.new("/:id",
        constraints: {id: /\d+/})).write(id: "x")
    end
  end

  private

  def write(path, **values) = Pelton::Web::Routes::PathWriter.new(Pelton::Web::Routes::Pattern.new(path)).write(values)
end
