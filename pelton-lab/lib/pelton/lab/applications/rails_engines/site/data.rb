# frozen_string_literal: true

require_relative "../../messages"

# What the site has in it, and what its pages must show. It needs no gem.
module Site
  SECTIONS = 5 # pages below the first one
  PAGES = 6 # below each of them
  ARTICLES = 30 # of the long page
  TEASERS = 12 # of the home page

  class << self
    # @return [Hash{String => String}] paths by what they show
    def pages = {"the home page" => "/", "a long page" => "/section-1", "a nested page" => "/section-2/page-3"}

    # The names of all pages, by their paths.
    def names = {"/" => "Home", **(1..SECTIONS).map { |section| names_in(section) }.reduce(:merge)}

    # How many articles a page has.
    def articles(path) = {"/" => 3, "/section-1" => ARTICLES, "/section-2/page-3" => 5}.fetch(path, 1)

    # The headline of an article, which is on no other page.
    def headline(path, number) = "Article #{number} of #{names.fetch(path)}"

    # The paragraphs of an article in HTML.
    def text(path, number)
      random = Random.new(path.sum * 100 + number)
      words = ->(count) { Array.new(count) { Messages::WORDS.sample(random: random) }.join(" ") }
      "<p>#{words.call(50)}, <strong>#{words.call(3)}</strong>, #{words.call(30)}.</p>" \
      "<ul>#{"<li>#{words.call(6)}</li>" * 3}</ul><p>#{words.call(60)}.</p>"
    end

    # Whether a page has what it must have.
    # @param path [String]
    # @param body [String]
    def right?(path, body)
      body.rstrip.end_with?("</html>") && shows_articles?(path,
        body) && shows_menu?(body) && body.scan(">more</a>").size == ((path == "/") ? TEASERS : 0)
    end

    private

    def names_in(section)
      pages = (1..PAGES).to_h { |page| ["/section-#{section}/page-#{page}", "Page #{page} of section #{section}"] }
      {"/section-#{section}" => "Section #{section}", **pages}
    end

    def shows_articles?(path, body)
      return false unless body.scan("<article").size == articles(path)
      (1..articles(path)).all? { |number| body.include?(headline(path, number)) && body.include?(text(path, number)) }
    end

    def shows_menu?(body) = names.except("/").all? { |path, name| body.include?(%(<a href="#{path}">#{name}</a>)) }
  end
end
