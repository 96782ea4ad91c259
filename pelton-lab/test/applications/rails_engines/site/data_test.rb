# frozen_string_literal: true

require "test_helper"
require "pelton/lab/applications/rails_engines/site/data"

class LabSiteDataTest < PeltonTest
  PATH = "/section-2/page-3"

  def test_a_page_has_the_menu_and_its_articles
    menu = Site.names.except("/").map { |path, name| "<a href=\"#{path}\">#{name}</a>" }.join
    articles = (1..Site.articles(PATH)).map do |number|
      "<article>#{Site.headline(PATH, number)}#{Site.text(PATH, number)}"
    end

    assert Site.right?(PATH, "#{menu}#{articles.join}</html>")
    refute Site.right?(PATH, "#{menu}#{articles.drop(1).join}</html>"), "an article is missing"
    refute Site.right?(PATH, "#{menu.sub("/section-5/page-6", "/")}#{articles.join}</html>"),
      "an entry of the menu is missing"
  end
end
