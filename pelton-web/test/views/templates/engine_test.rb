# frozen_string_literal: true

require_relative "../../support/template_files"

class WebTemplatesEngineTest < PeltonTest
  include TemplateFiles

  def test_an_expression_may_have_a_block
    assert_equal "<ul><li>&lt;</li>\n</ul>;",
      rendered("<%= tag(:ul) do %><% ['<'].each do |one| %><%= tag(:li) { one } %>\n<% end %><% end %>;")
    assert_equal "<p><b></p>", rendered("<%= tag :p do %><%== '<b>' %><% end %>")
  end

  def test_what_a_block_s_helper_returns_is_escaped_unless_it_is_html
    assert_equal "&lt;b&gt;<b>",
      rendered("<%= 1.then do %><% next '<b>' %><% end %><%== 1.then do |_| %><% next '<b>' %><% end %>")
  end

  def test_conditions_literals_and_comments
    assert_equal "yes <%= no %> ", rendered("<%= 'yes' if true %> <%%= no %> <%# no %><%= nil %>")
    assert_equal "one two ",
      rendered("<% if @a %>\n<%= 'one ' %><% else %>\nno\n<% end %>\n<%= [2].map { |n| 'two ' }.first -%>\n", {a: 1})
        .tr("\n", "")
  end

  def test_text_of_any_language
    assert_equal "é&lt;ü€", rendered("é<%= @text %>€", {text: "<ü"})
    assert_equal Encoding::UTF_8, rendered("<%= 1 %>").encoding
  end
end
