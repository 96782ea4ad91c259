# frozen_string_literal: true

# Creates the site's tables and fills them: as an editor does, with drafts that are published.
require_relative "application"
require_relative "data"

module Site
  NOW = Time.utc(2026)

  class << self
    # Unless another contender of the race has done so.
    def fill
      return if User.table_exists?
      ActiveRecord::Schema.verbose = false
      ActiveRecord::Schema.define { create_table(:users) { |table| table.string :name } }
      Host.migrate("activestorage", "gutentag", "alchemy_cms")
      ActiveRecord::Base.transaction { ActiveRecord::Base.no_touching { publish_pages } }
    end

    private

    def publish_pages
      site = Alchemy::Site.first || Alchemy::Site.create!(name: "Site", host: "*")
      @language = Alchemy::Language.create!(
        name: "English", language_code: "en", locale: "en", frontpage_name: "Home", page_layout: "index", public: true,
        default: true, site: site
      )
      @menu = Alchemy::Node.create!(menu_type: "main_menu", name: "Main", language: @language)
      home = publish("/", nil, nil)
      (1..SECTIONS).each do |section|
        page, node = publish("/section-#{section}", home.first, @menu)
        (1..PAGES).each { |number| publish("/section-#{section}/page-#{number}", page, node) }
      end
    end

    # @return [Array(Alchemy::Page, Alchemy::Node)] the page and its entry in the menu
    def publish(path, parent, menu)
      page = Alchemy::Page.create!(
        name: Site.names.fetch(path), language: @language, parent: parent,
        language_root: parent.nil?, page_layout: parent ? "standard" : "index",
        autogenerate_elements: false
      )
      page.update!(urlname: path.split("/").last) if parent
      (1..articles(path)).each do |number|
        add(page.draft_version, "article", headline: headline(path, number), text: text(path, number))
      end
      add_teasers(page.draft_version) unless parent
      page.publish!(NOW)
      if menu
        node =
          Alchemy::Node.create!(menu_type: "main_menu", name: page.name, page: page, parent: menu, language: @language)
      end
      [page, node]
    end

    def add(version, name, parent: nil, **values)
      element = version.elements.create!(name: name, parent_element: parent)
      values.each { |role, value| element.ingredient_by_role(role).update!(value: value) }
      element
    end

    def add_teasers(version)
      teasers = add(version, "teasers", headline: "Read more")
      (1..TEASERS).each do |number|
        add(version, "teaser", parent: teasers, headline: "Teaser #{number}", text: "What it is about",
          link: "/section-#{number % SECTIONS + 1}")
      end
    end
  end
end

Site.fill
ActiveRecord::Base.connection_handler.clear_all_connections!(:all) # SQLite leaves one file then
