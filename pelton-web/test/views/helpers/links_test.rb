# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require "pelton/web"
require "pelton/web/views/view"

class WebLinksTest < PeltonTest
  def view(controller = nil) = Pelton::Web::View.new(controller)

  def test_links
    assert_equal '<a href="/?a=1&amp;b=2" class="x">A&amp;B</a>', view.link_to("A&B", "/?a=1&b=2", class: "x")
    assert_equal '<a href="/">text</a>', view.link_to("/") { "text" }
  end

  def test_an_address_that_is_a_program_leads_nowhere
    ["javascript:alert(1)", " JavaScript:x", "java\nscript:x", "\u0001javascript:x", "data:text/html,x",
      "vbscript:x"].each do |url|
      assert_equal '<a href="#">x</a>', view.link_to("x", url), url.inspect
    end
    assert_equal '<a href="/javascript:x">x</a>', view.link_to("x", "/javascript:x")
  end

  def test_a_button_is_a_form
    assert_equal '<form action="/posts/1" method="post" class="button_to">' \
      '<input type="hidden" name="_method" value="delete"><button type="submit">Delete</button></form>',
      view.button_to("Delete", "/posts/1", method: :delete)
  end

  def test_files_of_an_application_have_their_digest_in_their_name
    Dir.mktmpdir do |folder|
      Dir.mkdir("#{folder}/public")
      File.write("#{folder}/public/a.css", "a {}")
      settings = Pelton::Web::Settings.new.tap { |one| one.root = folder }
      settings.environment = "production"
      settings.static = Pelton::Web::Static.of(settings)

      assert_match(%r{\A<link rel="stylesheet" href="/a-\h+\.css">\z},
        view(Struct.new(:settings).new(settings)).stylesheet_link_tag("a"))
    end
  end

  def test_files
    assert_equal '<img src="/a.png" alt="">', view.image_tag("a.png")
    assert_equal '<link rel="stylesheet" href="/a.css">', view.stylesheet_link_tag("a")
    assert_equal "<script src=\"/a.js\" defer></script>\n<script src=\"https://b/c.js\" defer></script>",
      view.javascript_include_tag("a", "https://b/c.js", defer: true)
    assert_equal '<img src="/x.png" alt="X">', view.image_tag("/x.png", alt: "X")
  end
end
