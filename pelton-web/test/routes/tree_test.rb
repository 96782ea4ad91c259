# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebRoutesTreeTest < PeltonTest
  def test_the_most_specific_route_answers
    paths = %w[/*all /:any /:any/:other /posts/:id /posts/new /:any/new /posts/:id/edit /posts/*rest]
    {"/posts/new" => "/posts/new", "/posts/1" => "/posts/:id", "/x/new" => "/:any/new", "/x/1" => "/:any/:other",
     "/x" => "/:any",
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
    assert_equal ["/:kind-:day.:id", {"kind" => "b", "day" => "01", "id" => "5"}],
      find(%w[/:kind-:day.:id], "/b-01.5", constraints)
    assert_nil find(%w[/:kind-:day], "/c-01", constraints)
  end

  # A more general route would lead to another controller, with other filters.
  def test_a_format_is_compared_last
    {%w[/users/:name /:kind/:id(.:format)] => "/users/j.doe",
     %w[/assets/*path /:section/:page(.:format)] => "/assets/app.css",
     %w[/admin/:name /*page(.:format)] => "/admin/v1.2",
     %w[/posts/:slug(.:format) /posts/:id] => "/posts/a.b", %w[/feed.xml /feed(.:format)] => "/feed.xml",
     %w[/a/new(.:format) /a/:id] => "/a/new.json",
     %w[/x/*rest(.:format) /x/*all] => "/x/a.b"}.each do |paths, path|
      [paths, paths.reverse].each { |list| assert_equal paths.first, find(list, path).first, path }
    end
    assert_equal ["/posts/:slug", {"slug" => "a.b"}],
      find(%w[/posts/:id(.:format) /posts/:slug], "/posts/a.b", {slug: /[\w.]+/})
  end

  def test_an_ending_that_is_no_format
    assert_equal [{"id" => "a."}, {"id" => ".a"}, {"id" => "a.b/c"}],
      ["/a.", "/.a", "/a.b\0c"].map { |path| find(%w[/:id(.:format)], path, segment: path[1..].tr("\0", "/")).last }
  end

  def test_the_first_declared_of_two_constraints_answers_unless_the_rest_decides
    constraints = {a: /\w+/, b: /\d+/}

    assert_equal "/:a/x", find(%w[/:a/x /:b/x], "/1/x", constraints).first
    assert_equal "/:b/x", find(%w[/:a/:z /:b/x], "/1/x", constraints).first
    assert_equal "/:b/x", find(%w[/:b/x /:a/x], "/1/x", constraints).first
  end

  def test_an_escaped_slash_separates_nothing
    splats = %w[/f/*path/edit /f/*path]

    assert_equal ["/f/*path", {"path" => "a/edit"}], find(splats, "/f/a%2Fedit", segment: "a/edit")
    assert_equal ["/f/*path/edit", {"path" => "a/b"}], find(splats, "/f/a/b/edit")
    assert_nil find(%w[/f/*path], "/f/a%2Fb", {path: /[a-z]+/}, segment: "a/b")
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

  # @param segment [String] instead of the path's last one
  def find(paths, path, constraints = {}, segment: nil)
    tree = Pelton::Web::Routes::Tree.new
    paths.each do |one|
      pattern = Pelton::Web::Routes::Pattern.new(one, constraints: constraints)
      pattern.variants.each do |variant|
        tree.add(variant, pattern.constraints, "GET", ->(_env, captures) { [one, captures] })
      end
    end
    segments = path.split("/", -1)
    segments[-1] = segment if segment
    stem, format = Pelton::Web::Routes::Segments.ending(segments.last)
    tree.compile.find(segments, stem, format, "GET", {})
  end
end
