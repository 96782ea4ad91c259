# frozen_string_literal: true

require_relative "../support/template_files"

class WebHelpersTest < PeltonTest
  include TemplateFiles

  def test_templates_have_them_all
    assert_equal "<p></p><a href=\"/\">x</a><form action=\"/\" method=\"get\"></form>",
      rendered("<%= tag :p %><%= link_to 'x', '/' %><%= form_with(url: '/', method: :get) { } %>")
  end
end
