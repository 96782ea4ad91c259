# frozen_string_literal: true

require_relative "../support/generating"

class WebGeneratorsTemplateTest < PeltonTest
  Template = Generating::Generators::Template

  def test_the_paths_of_a_set
    paths = Template.paths("application")

    assert_includes paths, ".gitignore"
    assert_includes paths, "config/routes.rb"
    assert_empty paths.grep(/\.tt\z/)
  end

  # Templates of an application stand in these templates as they are.
  def test_the_text_calls_the_methods_of_its_context
    context = Struct.new(:application, :bare?, :name, :title, :action, :record?).new("Shop", true,
      Struct.new(:path).new("posts"), "A <b>", "index", true)

    assert_equal "<% content_for :title, \"A <b>\" %>\n<h1>A <b>" \
      "</h1>\n<p>This page is in app/views/posts/index.html.erb.</p>\n",
      Template.render("controller/view.html.erb", context)
    assert_includes Template.render("application/config/routes.rb", context),
      "Shop.routes do\n  root to: \"home#index\"\nend\n"
    assert_includes Template.render("application/.gitignore", context), "/tmp/"
  end

  def test_a_template_that_is_missing
    assert_raises(Errno::ENOENT) { Template.render("application/none.rb", self) }
  end
end
