# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebRoutesPatternTest < PeltonTest
  Pattern = Pelton::Web::Routes::Pattern

  def test_optional_parts_make_variants
    assert_equal [[["posts", [:id]], [], true], [["posts", [:id]], [], false]], variants("/posts/:id(.:format)")
    assert_equal [[["a", [:b], [:c]], [], false], [["a", [:b]], [], false], [["a"], [], false]],
      variants("/a(/:b(/:c))")
  end

  def test_a_segment_may_have_several_parts
    assert_equal [[[[:a, "-", :b], "x"], [], false]], variants("/:a-:b/x")
  end

  def test_a_splat_takes_the_rest
    assert_equal [[["files", [:path, "/edit"]], [:path], false]], variants("/files/*path/edit")
    assert_equal [[["files", [:path, "/by/", :id]], [:path], true]], variants("/files/*path/by/:id.:format")
  end

  # Mustermann would read a longer name.
  def test_text_beside_an_optional_part_does_not_belong_to_a_name
    assert_equal [[[[:id, "s"]], [], false], [[[:id]], [], false]], variants("/:id(s)")
    assert_equal [[[[:a, "-", :b, "c"]], [], false], [[[:a, "c"]], [], false]], variants("/:a(-:b)c")
    assert_equal [[["r", [:page, "of", :total]], [], false], [["r", [:page]], [], false]],
      variants("/r/:page(of:total)")
  end

  def test_literals_are_text_also_where_they_are_escaped
    assert_equal [[["caf\u00e9", "a b", "(c)", "100%"], [], false]], variants("/caf%C3%A9/a b/\\(c\\)/100%")
    assert_equal variants("/caf\u00e9/a b"), variants("/caf%c3%a9/a%20b")
  end

  def test_only_paths_without_variables_are_static
    assert_equal [true, false, false, false],
      ["/posts/new", "/posts/:id", "/posts.:format", "/100%"].map { |path| Pattern.new(path).variants.first.static? }
  end

  def test_paths_that_no_request_can_have_are_refused
    ["/a%2Fb", "/%ff", "/a%00", "/a\nb"].each do |path|
      assert_raises(Pelton::Web::ConfigurationError, path) { Pattern.new(path) }
    end
  end

  def test_alternatives_are_refused
    error = assert_raises(Pelton::Web::ConfigurationError) { Pattern.new("/a(b|c)") }

    assert_match(/a route for each alternative/, error.message)
  end

  def test_malformed_paths_are_refused
    ["posts", "/:a/:a", "/(a", "/a)", nil].each do |path|
      assert_raises(Pelton::Web::ConfigurationError, path.inspect) { Pattern.new(path) }
    end
  end

  def test_a_constraint_is_a_regexp_without_names
    assert_equal({id: /\d+/}, Pattern.new("/:id", constraints: {"id" => /\d+/, :other => /x/}).constraints)
    ["5", /(?<n>\d)/].each do |constraint|
      assert_raises(Pelton::Web::ConfigurationError) { Pattern.new("/:id", constraints: {id: constraint}) }
    end
  end

  private

  def variants(path) = Pattern.new(path).variants.map(&:to_a)
end
