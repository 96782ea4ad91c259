# frozen_string_literal: true

module Site
  # The index of the documents, docs/README.md: groups of links with a line about each. The site's navigation is made of it.
  #
  # A heading of level 2 begins a group; one of level 3 a group inside it. An item that begins with a link is an entry.
  class Index
    PATH = "docs/README.md"

    # @!attribute path
    #   @return [String] from the repository's root
    # @!attribute line
    #   @return [String] Markdown
    Entry = Struct.new(:title, :path, :line)

    Group = Struct.new(:title, :entries, :groups) do
      # Those of the groups inside, too, in the order of the text.
      def all = entries + groups.flat_map(&:all)
    end

    # @return [Array<Group>]
    attr_reader :groups

    # @param text [String] Markdown
    def initialize(text)
      @groups = []
      text.gsub(/\n +(?=\S)/, " ").each_line(chomp: true) { |line| read(line) }
    end

    # @return [Array<Entry>] in the order of the text
    def entries = groups.flat_map(&:all)

    # @return [Group, nil] the outer one that has the document
    def group_of(path) = groups.find { |group| group.all.any? { |entry| entry.path == path } }

    private

    def read(line)
      case line
      when /\A## (.+)/ then @groups << (@group = Group.new($1, [], []))
      when /\A### (.+)/ then @groups.last.groups << (@group = Group.new($1, [], []))
      when /\A- \[([^\]]+)\]\(([^)#]+)\):? *(.*)/
        raise ArgumentError, "an entry before the first group: #{line}" unless @group
        @group.entries << Entry.new($1, File.expand_path($2, "/#{File.dirname(PATH)}").delete_prefix("/"), $3)
      end
    end
  end
end
