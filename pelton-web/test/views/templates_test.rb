# frozen_string_literal: true

require_relative "../support/template_files"

class WebTemplatesTest < PeltonTest
  include TemplateFiles

  def test_a_template_has_locals_and_instance_variables_and_is_escaped
    found = templates({"posts/show.html.erb" => "<h1><%= @title %></h1><%= body %> <%== body %>"})

    assert_equal "<h1>&lt;A&gt;</h1>1 &lt; 2 1 < 2",
      found.render("posts/show", assigns: {title: "<A>"}, locals: {body: "1 < 2"})
  end

  def test_what_a_user_has_written_is_never_a_template
    text = "<%= 7 * 7 %><%== `id` %>\#{7 * 7}"

    assert_equal CGI.escapeHTML(text) * 2,
      templates({"page.html.erb" => "<%= @text %><%= render 'item', item: @text %>", "_item.html.erb" => "<%= item %>"})
        .render("page", assigns: {text: text})
    assert_equal text, rendered("<%== @text %>", {text: text})
  end

  def test_a_file_s_name_says_the_format_and_html_is_the_usual_one
    found = templates({"mail.txt.erb" => "<%= 1 %> < 2, <%= '<' %>", "mail.erb" => "<%= '<' %>",
      "feed.xml.erb" => "<x/>"})

    assert_equal %w[html txt], found.formats("mail").sort
    assert_equal "1 < 2, <", found.render("mail", format: "txt")
    assert_equal "&lt;", found.render("mail")
    assert_equal "<x/>", found.render("feed", format: "xml")
  end

  def test_a_layout_stands_round_the_page
    found = templates({"layouts/site.html.erb" => "<title><%= yield :title %></title><%= yield %>|<%= yield :none %>",
      "page.html.erb" => "<% content_for :title, 'A&B' %><p>page</p>"})

    assert_equal "<title>A&amp;B</title><p>page</p>|", found.render("page", layout: "layouts/site")
  end

  def test_a_missing_template_says_where_it_was_looked_for_and_what_is_there
    found = templates({"posts/show.html.erb" => ""})

    near = assert_raises(Pelton::Web::MissingTemplate) { found.render("posts/shwo") }
    other = assert_raises(Pelton::Web::MissingTemplate) { found.render("posts/show", format: "json") }

    assert_includes near.message, "#{@folder}/posts/shwo.html.erb"
    assert_includes near.message, "there is posts/show"
    assert_includes other.message, "it is there for html"
  end

  def test_no_name_leads_to_a_file_that_is_no_template
    write("page.html.erb" => "", "secret.txt" => "<%= 1 %>")
    File.write(outside = "#{@folder}.html.erb", "outside")
    found = Pelton::Web::Templates.new(@folder)

    names = ["../#{File.basename(@folder)}", @folder, "/etc/passwd", "./page", "page.html", "page\0", "secret",
      "../#{File.basename(@folder)}/page", "%2e%2e/page", "", "\xff", "a" * 100_000]
    names.each { |name| assert_raises(Pelton::Web::MissingTemplate, name) { found.find(name) } }

    assert_operator assert_raises(Pelton::Web::MissingTemplate) { found.find("a" * 100_000) }.message.size, :<, 2000
    [{"inline" => "<%= `id` %>"}, nil, ["page"], :page].each do |name|
      assert_raises(ArgumentError) { found.find(name) }
    end
  ensure
    File.delete(outside)
  end

  def test_an_error_has_the_template_s_line
    broken = assert_raises(RuntimeError) do
      rendered("<p>\n<% 2.times do %>\n<%= tag(:p) do %>\n  x<% end %>\n<%= raise 'here' %>\n<% end %>")
    end

    assert_equal "#{@folder}/page.html.erb:5", broken.backtrace.first[/\A.*?:\d+/]
  end

  def test_compile_finds_errors_of_syntax_at_boot
    broken = assert_raises(SyntaxError) { templates({"bad.html.erb" => "ok\n<% if %>"}).compile }

    assert_includes broken.message, "bad.html.erb:2"
  end

  def test_a_compiled_template_is_called_without_its_file
    found = templates({"page.html.erb" => "<%= render 'item', item: 7 %>", "_item.html.erb" => "<<%= item %>>"}).compile
    FileUtils.rm_rf(@folder)

    assert_equal "<7>", found.render("page")
  end

  def test_reload_reads_what_has_changed
    found = templates({"page.html.erb" => "one"})

    assert_equal "one", found.render("page")
    refute_predicate found, :changed?
    write("page.html.erb" => "two", "new.html.erb" => "new")
    File.utime(Time.now, Time.now + 5, File.join(@folder, "page.html.erb"))

    assert_predicate found, :changed?
    found.reload

    assert_equal %w[two new], [found.render("page"), found.render("new")]
  end

  def test_the_first_folder_wins
    write("own/page.html.erb" => "own", "gem/page.html.erb" => "gem", "gem/other.html.erb" => "other")
    found = Pelton::Web::Templates.new("#{@folder}/own", "#{@folder}/gem")

    assert_equal %w[own other], [found.render("page"), found.render("other")]
  end

  def test_helpers_are_visible
    shouting = Module.new { def shout(text) = "#{text.upcase}!" }

    assert_equal "A!", templates({"page.html.erb" => "<%= shout 'a' %>"}, helpers: [shouting]).render("page")
  end

  def test_a_missing_folder_is_an_error_of_configuration
    assert_raises(Pelton::Web::ConfigurationError) { Pelton::Web::Templates.new("/nowhere/at/all") }
  end
end
