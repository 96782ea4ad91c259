# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebRoutesTreeTest < PeltonTest
  def test_the_most_specific_route_answers
    paths = %w[/*all /:any /:any/:other /posts/:id /posts/new /:any/new /posts/:id/edit /posts/*rest]
    {"/posts/new" => "/posts/new", "/posts/1" => "/posts/:id", "/x/new" => "/:any/new", "/x/1" => "/:any/:other", "/x" => "/:any",
     "/posts/1/edit" => "/posts/:id/edit", "/posts/1/x" => "/posts/*rest", "/x/1/2" => "/*all"}.each do |path, expected|
      assert_equal expected, find(paths, path).first, path
    end
  end

  def test_a_branch_that_leads_nowhere_is_left_again
    paths = %w[/a/b/c /:x/b/d /a/:y/e /*z]

    assert_equal ["/:x/b/d", {"x" => "a"}], find(paths, "/a/b/d")
    assert_equal ["/a/:y/e", {"y" => "b"}], find(paths, "/a/b/e")
    assert_equal ["/*z", {"z" => "a/b/f"}], find(paths, "/a/b/f")
  end

  def test_constraints
    constraints = {id: /\d+/, kind: /a|b/, day: /(\d)(\d)/}

    assert_equal ["/:id", {"id" => "12"}], find(%w[/:name /:id], "/12", constraints)
    assert_equal ["/:name", {"name" => "12a"}], find(%w[/:name /:id], "/12a", constraints)
    assert_equal ["/:name", {"name" => "12\n"}], find(%w[/:name /:id], "/12\n", constraints)
    assert_equal ["/:kind-:day.:id", {"kind" => "b", "day" => "01", "id" => "5"}], find(%w[/:kind-:day.:id], "/b-01.5", constraints)
    assert_nil find(%w[/:kind-:day], "/c-01", constraints)
  end

  def test_the_same_place_with_other_names
    assert_equal ["/:b/y", {"b" => "1"}], find(%w[/:a/x /:b/y], "/1/y")
  end

  def test_a_variable_takes_no_empty_segment
    assert_nil find(%w[/a/:b], "/a//")
    assert_nil find(%w[/:a/b], "//b")
  end

  def test_its_code_may_contain_any_text
    assert_equal ["/a\"\#{1}\\\\é/:b", {"b" => "1"}], find(["/a\"\#{1}\\\\é/:b"], "/a\"\#{1}\\é/1")
  end

  private

  def find(paths, path, constraints = {})
    tree = Pelton::Web::Routes::Tree.new
    paths.each do |one|
      pattern = Pelton::Web::Routes::Pattern.new(one, constraints: constraints)
      pattern.variants.each { |variant| tree.add(variant, pattern.constraints).add("GET", ->(_env, captures) { [one, captures] }) }
    end
    tree.compile.find(path.split("/", -1), nil, "GET", {})
  end
end
