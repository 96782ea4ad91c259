# frozen_string_literal: true

require_relative "../../support/template_files"

class WebTemplateTest < PeltonTest
  include TemplateFiles

  def test_locals_in_any_order_and_number
    found = templates({"page.html.erb" => "<%= a %><%= defined?(b) ? b : '-' %>"})

    assert_equal %w[1- 12 12],
      [{a: 1}, {a: 1, b: 2}, {b: 2, a: 1}].map { |locals| found.render("page", locals: locals) }
  end

  # Names that are made of data would fill the memory.
  def test_sets_of_locals_are_limited
    found = templates({"page.html.erb" => "x"})
    render = ->(number) { found.render("page", locals: {"name_#{number}": 1}) }
    49.times(&render) # and the empty one

    assert_match(/50 different sets of locals/,
      assert_raises(Pelton::Web::ConfigurationError) { render.call(49) }.message)
    assert_equal "x", render.call(0)
  end

  def test_declared_locals_are_checked
    found = templates({"page.html.erb" => "<%# locals: (title:, size: 3) %><%= title * size %>"}).compile

    assert_equal %w[aaa a],
      [found.render("page", locals: {title: "a"}), found.render("page", locals: {title: "a", size: 1})]
    assert_raises(ArgumentError) { found.render("page") }
    assert_raises(ArgumentError) { found.render("page", locals: {title: "a", other: 1}) }
  end

  # The names become Ruby code, and each set of names a method.
  def test_names_of_locals_cannot_be_data
    found = templates({"page.html.erb" => "x"})

    [{"a" => 1}, {"a = `id`; b": 1}, {A: 1}, {"a b": 1}].each do |locals|
      assert_raises(ArgumentError) { found.render("page", locals: locals) }
    end
    assert_raises(Pelton::Web::ConfigurationError) do
      60.times { |number| found.render("page", locals: {"a#{number}": 1}) }
    end
    assert_equal "x", found.render("page")
  end

  def test_names_that_differ_only_in_their_marks
    found = templates({"a/b.html.erb" => "one", "a_b.html.erb" => "two", "a-b.html.erb" => "three"}).compile

    assert_equal %w[one two three], %w[a/b a_b a-b].map { |name| found.render(name) }
  end

  def test_other_engines_that_tilt_knows
    found = templates({"about.html.str" => "Hello \#{@name}", "item.html.str" => "\#{locals[:item]}"}).compile

    assert_equal "Hello you", found.render("about", assigns: {name: "you"})
    assert_equal "7", found.render("item", locals: {item: 7})
  end
end
