# frozen_string_literal: true

require "fileutils"
require "pathname"
require "yaml"

module Site
  # The documents as Jekyll takes them: with front matter, which would disfigure them on GitHub, and with links between
  # pages. The navigation is that of docs/README.md: a heading begins a group, one of level 3 a group inside it, and an
  # item that begins with a link is an entry.
  class Documents
    INDEX = "docs/README.md"
    REPOSITORY = "https://github.com/pelton-rb/pelton"
    # Documents that gems contain name the repository, as their pages are elsewhere.
    OWN = %r{\A#{Regexp.escape(REPOSITORY)}/(?:blob|tree)/main/([^#?]+)(?:\?raw=true)?(?:#(.+))?\z}
    LINK = /(\]\(|\b(?:href|src|srcset)=")([^)"\s]+)/
    # What is written as code has no links.
    CODE = /^(?:```.*?^```| {4}[^\n]*)$|`[^`\n]*`/m

    # @!attribute parents
    #   @return [Array<String>] titles of the groups, the outer one first
    Entry = Struct.new(:title, :path, :parents)

    class DeadLink < StandardError
    end

    # @param path [String] of a document
    # @return [String] of its page
    def self.page(path) = path.delete_prefix("docs/").sub(/README\.md\z/, "index.md").sub(/\.md\z/, ".html").downcase

    # @return [Array<Entry>] in the order of the index
    attr_reader :entries

    # @return [Hash{Array<String> => Integer}] the groups, by their titles, and their places
    attr_reader :groups

    # @param root [String] the repository
    def initialize(root)
      @root = root
      @entries, @groups, @pictures = [], {}, []
      read(INDEX).gsub(/\n +(?=\S)/, " ").each_line(chomp: true) { |line| index(line) }
    end

    # @param folder [String] is made anew
    # @raise [DeadLink] a link names a file that is not there
    # @return [void]
    def write(folder)
      FileUtils.rm_rf(folder)
      FileUtils.mkdir_p(folder)
      FileUtils.cp_r("#{__dir__}/_includes", folder)
      @groups.each do |titles, place|
        page(folder, "groups/#{titles.join("-")}.html".downcase.tr(" ", "-"), titles.last, titles[0...-1], place, "")
      end
      @entries.each.with_index do |entry, place|
        page(folder, Documents.page(entry.path), entry.title, entry.parents,
          place, rewrite(read(entry.path), entry.path))
      end
      @pictures.each { |path| save(folder, path, File.binread(File.join(@root, path))) }
    end

    private

    def index(line)
      case line
      when /\A## (.+)/ then begin_group([$1])
      when /\A### (.+)/ then begin_group([@group.first, $1])
      when /\A- \[([^\]]+)\]\(([^)#]+)\)/ then @entries << Entry.new($1, path_from(INDEX, $2), @group)
      end
    end

    # Groups come after the entries of the outer group.
    def begin_group(group)
      @group = group
      @groups[group] = 1000 + @groups.size
    end

    def page(folder, path, title, parents, place, text)
      front = {
        "title" => title,
        "nav_order" => place,
        "parent" => parents.last,
        "grand_parent" => parents[-2],
        "permalink" => "/#{path}",
        "render_with_liquid" => false
      }
      if path == "index.html"
        front = {"title" => title, "nav_order" => 0, "permalink" => "/", "render_with_liquid" => false}
      end
      save(folder, path.sub(/\.html\z/, ".md"), "#{front.compact.to_yaml}---\n#{text}")
    end

    # @return [String] the text with links to pages, to pictures, or to the repository's source
    def rewrite(text, source)
      code = []
      text = text.gsub(CODE) { |part| "\0#{code.push(part).size - 1}\0" }
      text = text.gsub(LINK) { "#{$1}#{target($2, source)}" }
      text.gsub(/\0(\d+)\0/) { code[$1.to_i] }
    end

    def target(link, source)
      own = link.match(OWN)
      return link if own.nil? && link.match?(/\A(?:[a-z]+:|#)/)
      path, anchor = own ? own.captures : link.split("#", 2)
      path = path_from(source, path) unless own
      [location(path, source), *anchor].join("#")
    end

    def location(path, source)
      full = File.join(@root, path)
      raise DeadLink, "#{source} links to #{path}, which is not there" unless File.exist?(full)
      return relative(source, Documents.page(path)) if path == INDEX || @entries.any? { |entry| entry.path == path }
      unless path.match?(/\.(?:png|svg)\z/)
        return "#{REPOSITORY}/#{File.directory?(full) ? "tree" : "blob"}/main/#{path}"
      end
      @pictures |= [path]
      relative(source, path)
    end

    def relative(source, page) = Pathname(page).relative_path_from(Pathname(Documents.page(source)).dirname).to_s

    def path_from(source, link) = File.expand_path(link, "/#{File.dirname(source)}").delete_prefix("/")

    def read(path) = File.read(File.join(@root, path), encoding: "UTF-8")

    def save(folder, path, content)
      FileUtils.mkdir_p(File.dirname(path = File.join(folder, path)))
      File.binwrite(path, content)
    end
  end
end
