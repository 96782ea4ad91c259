# frozen_string_literal: true

require_relative "../support/template_files"

class WebViewTest < PeltonTest
  include TemplateFiles

  Page = Struct.new(:title) do
    def to_partial_path = "pages/page"
  end

  def test_partials_are_found_in_the_page_s_folder_then_in_application
    found = templates({"posts/show.html.erb" => "<%= render 'line', text: 'a' %><%= render 'menu' %>" \
      "<%= render 'shared/foot' %>",
      "posts/_line.html.erb" => "<i><%= text %></i>", "application/_menu.html.erb" => "menu",
        "shared/_foot.html.erb" => "foot"})

    assert_equal "<i>a</i>menufoot", found.render("posts/show")
  end

  def test_a_missing_partial_says_where_it_was_looked_for
    missing = assert_raises(Pelton::Web::MissingTemplate) do
      templates({"posts/show.html.erb" => "<%= render 'line' %>"}).render("posts/show")
    end

    %w[posts application].each { |folder| assert_includes missing.message, "#{@folder}/#{folder}/_line.html.erb" }
  end

  def test_a_collection
    found = templates({"posts/show.html.erb" => "<%= render partial: 'line', collection: @texts, locals: {mark: '!'} " \
      "%>|<%= render partial: 'row', collection: [1], as: :one %>|<%= render partial: 'line', collection: [] %>",
      "posts/_line.html.erb" => "<%= line_counter %><%= line %><%= mark %>", "posts/_row.html.erb" => "<%= one %>"})

    assert_equal "0a!1&lt;!|1|", found.render("posts/show", assigns: {texts: %w[a <]})
  end

  def test_objects_name_their_partial
    found = templates({"page.html.erb" => "<%= render @pages.first %>,<%= render @pages %>",
      "pages/_page.html.erb" => "[<%= page.title %>]"})

    assert_equal "[a],[a][b]", found.render("page", assigns: {pages: [Page.new("a"), Page.new("b")]})
    assert_raises(ArgumentError) { rendered("<%= render 7 %>") }
  end

  def test_capture_and_content_for
    assert_equal "after [<b>x</b>&lt;]",
      rendered("<% kept = capture do %><b>x</b><%= '<' %><% end %>after [<%= kept %>]")
    assert_equal "ab &lt;",
      rendered("<% content_for(:side) { 'a' } %><% content_for :side do %>b<% end %>" \
        "<%= content_for :side %> <% content_for :x, '<' %><%= content_for :x if content_for? :x %>" \
        "<%= content_for :none %>")
  end

  def test_content_for_within_cache_is_refused_since_it_would_be_lost_with_the_next_page
    %w[<%=content_for(:title,"T")%> <%content_for(:title){%>T<%}%> <%=render("title")%>].each do |code|
      found = templates({"page.html.erb" => "<% cache 1 do %>#{code}<% end %>",
        "_title.html.erb" => "<% content_for(:title, 'T') %>"})
      error = assert_raises(Pelton::Web::ConfigurationError, code) { found.render("page") }

      assert_match(/content_for :title within cache/, error.message)
    end
    assert_equal "T", rendered("<% content_for(:title, 'T') %><% cache(1) do %><%= content_for(:title) %><% end %>")
  end

  def test_an_error_inside_a_block_leaves_the_page_as_it_was
    assert_equal "before after",
      rendered(
        "before <% begin %><%= tag(:p) do %>lost<% raise KeyError %><% end %><% rescue KeyError %><% end %>after"
      )
  end

  class Sink
    attr_reader :parts

    def initialize = @parts = []

    def write(part) = @parts << part
  end

  def stream(found, layout: nil)
    sink = Sink.new
    found.view_class.new(nil, prefix: "").then do |view|
      view._stream(found.find("page"), layout && found.find(layout), {}, sink)
    end
    sink.parts
  end

  def test_a_stream_sends_the_layout_s_head_at_once_and_then_what_is_flushed
    found = templates({"layout.html.erb" => "<head><%= yield %></end>",
      "page.html.erb" => "one<% flush %><%= tag(:p) do %>in<% flush %><% end %><% flush %><%= render 'item' %>two",
      "_item.html.erb" => "item<% flush %>"})

    assert_equal ["<head>", "one", "<p>in</p>", "itemtwo</end>"], stream(found, layout: "layout")
    assert_equal ["one", "<p>in</p>", "itemtwo"], stream(found)
  end

  def test_flush_does_nothing_in_a_page_that_is_not_streamed
    assert_equal "onetwo", rendered("one<% flush %>two")
  end
end
