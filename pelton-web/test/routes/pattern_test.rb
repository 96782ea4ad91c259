# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebRoutesPatternTest < PeltonTest
  Pattern = Pelton::Web::Routes::Pattern

  def test_optional_parts_make_variants
    assert_equal [[["posts", [:id]], false, true], [["posts", [:id]], false, false]], variants("/posts/:id(.:format)")
    assert_equal [[["a", [:b], [:c]], false, false], [["a", [:b]], false, false], [["a"], false, false]], variants("/a(/:b(/:c))")
  end

  def test_a_segment_may_have_several_parts
    assert_equal [[[[:a, "-", :b], "x"], false, false]], variants("/:a-:b/x")
  end

  def test_a_splat_takes_the_rest
    assert_equal [[["files", [:path, "/edit"]], true, false]], variants("/files/*path/edit")
  end

  def test_literals_are_plain_text
    assert_equal [[["café", "a b", "(c)"], false, false]], variants("/café/a%20b/\\(c\\)".sub("%20", " "))
  end

  def test_only_paths_without_variables_are_static
    assert_predicate Pattern.new("/posts/new"), :static?
    refute_predicate Pattern.new("/posts/:id"), :static?
  end

  def test_malformed_paths_are_refused
    ["posts", "/:a/:a", "/(a", "/a)", nil].each { |path| assert_raises(Pelton::Web::ConfigurationError, path.inspect) { Pattern.new(path) } }
  end

  def test_a_constraint_is_a_regexp_without_names
    assert_equal({id: /\d+/}, Pattern.new("/:id", constraints: {"id" => /\d+/, :other => /x/}).constraints)
    ["5", /(?<n>\d)/].each { |constraint| assert_raises(Pelton::Web::ConfigurationError) { Pattern.new("/:id", constraints: {id: constraint}) } }
  end

  private

  def variants(path) = Pattern.new(path).variants.map(&:to_a)
end
