# frozen_string_literal: true

require_relative "../support/generating"

class WebGeneratorsNameTest < PeltonTest
  def named(text) = Generating::Generators::Name.new(text, "model")

  def test_its_forms
    %w[Admin::BlogPost admin/blog_post admin/BlogPost].each do |text|
      name = named(text)

      assert_equal "Admin::BlogPost", name.constant
      assert_equal "admin/blog_post", name.path
      assert_equal "admin_blog_post", name.flat
      assert_equal "blog_post", name.last
      assert_equal ["admin"], name.namespaces
      assert_equal "Blog post", name.human
    end
    assert_equal "html_page", named("HTMLPage").last
  end

  def test_numbers
    assert_equal %w[admin/categories admin/category],
      [named("admin/category").plural.path, named("admin/categories").singular.path]
    assert_equal %w[people person], [named("person").plural.last, named("people").singular.last]
    assert_predicate named("posts"), :plural?
    refute_predicate named("home"), :plural?
  end

  # As in an application without a database.
  def test_numbers_without_sequel
    assert_equal "\"categories\"\n\"post\"\nnil\n", ruby_output(<<~RUBY, gems: true)
      module Kernel
        alias_method :require_before, :require
        def require(path)
          if path.start_with?("sequel")
            raise(LoadError.new("none").tap { |error| error.define_singleton_method(:path) { path } })
          else
            require_before(path)
          end
        end
      end
      require "pelton/web/generators"
      p Pelton::Web::Generators::Name.plural("category"), Pelton::Web::Generators::Name.singular("posts"),
        defined?(Sequel)
    RUBY
  end

  def test_what_is_none
    ["", "/", "a/", "/a", "a//b", "../a", "a b", "a-b", "1a", "_a", "é", "a;b", "a\n", "a" * 101, "a::",
      "::A"].each do |text|
      error = assert_raises(Generating::Generators::Refused, text) { named(text) }

      assert_includes error.message, "cannot be the name of a model"
    end
  end
end
