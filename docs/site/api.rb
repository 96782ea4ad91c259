# frozen_string_literal: true

require "fileutils"
require "yard"

module Site
  # YARD's pages of the API. sig/ declares what is public; of EventMachine's API, of which it declares a part, all that
  # is not marked as private is.
  class Api
    # Methods that mean the same for every object, and need no docstring.
    OF_EVERY_OBJECT = %i[inspect to_s == eql? hash].freeze
    FOREIGN = %w[EventMachine BufferedTokenizer].freeze
    # Rails' own modules, which hold a class of ours.
    OF_RAILS = %w[ActiveJob ActiveJob::QueueAdapters ActiveSupport ActiveSupport::Cache].freeze

    # @param root [String] the repository
    def initialize(root)
      @root = root
      @files = Dir["{.,pelton-*}/lib/**/*.rb", base: root].sort.map { |file| file.delete_prefix("./") }
        .grep_v(%r{\Apelton-lab/})
      @declared =
        Dir["{.,pelton-*}/sig/**/*.rbs", base: root].flat_map { |file| declared(File.readlines(File.join(root, file))) }
    end

    # @param folder [String] for YARD's pages
    # @param sources [String] a folder for copies of the sources
    # @return [void]
    def write(folder, sources)
      copy(sources)
      YARD::Registry.clear
      YARD::Parser::SourceParser.after_parse_list { hide }
      Dir.chdir(sources) do
        YARD::CLI::Yardoc.run("--output-dir", folder, "--title", "Pelton's API", "--no-private", "--no-save",
          "--no-cache", "--no-stats", "--quiet",
          "--markup", "markdown", "--markup-provider", "kramdown", "--tag", "asynchronous:Asynchronous", *@files)
      end
    end

    # @return [Array<String>] public classes, and their public methods, without a docstring
    def undocumented
      namespaces = YARD::Registry.all(:class, :module).select { |object| shown?(object) }
      methods = namespaces.flat_map { |object| public_methods_of(object) }.reject do |method|
        method.is_alias? || OF_EVERY_OBJECT.include?(method.name)
      end
      (namespaces + methods).reject { |object| object.docstring.to_raw.match?(/\S/) }.map(&:path) - OF_RAILS
    end

    # @return [String] Markdown: each class with its methods, which the site's search finds
    def index
      namespaces = YARD::Registry.all(:class, :module).select { |object| shown?(object) }.sort_by(&:path)
      namespaces.map { |object| "## #{object.path}\n\n[#{object.path}](#{url(object)}): #{methods(object)}\n" }
        .join("\n")
    end

    private

    # YARD loses a directive after a class's last statement, so the copies have one more, on the line of the class's
    # end.
    def copy(sources)
      FileUtils.rm_rf(sources)
      @files.each do |file|
        FileUtils.mkdir_p(File.dirname(copy = File.join(sources, file)))
        File.write(copy,
          File.read(File.join(@root, file)).gsub(/^( *)(# @!(?:(?! *end$).*\n)(?: *#.*\n|\n)*)( *)end$/) do
            "#{$1}#{$2}#{$3}# @private\n#{$3}END_OF_CLASS = nil; end"
          end)
      end
    end

    def hide
      YARD::Registry.all(:class, :module).each do |object|
        next object.visibility = :public if shown?(object)
        object.add_tag(YARD::Tags::Tag.new(:private, "")) unless object.has_tag?(:private)
      end
      YARD::Registry.all(:method).each { |method| method.visibility = :private if method.name.start_with?("_") }
    end

    def shown?(object)
      return false if object.has_tag?(:private)
      if FOREIGN.include?(object.path[/\A\w+/])
        return object.visibility == :public && !object.namespace.has_tag?(:private)
      end
      @declared.any? { |path| path == object.path || path.start_with?("#{object.path}::") }
    end

    def public_methods_of(object)
      object.meths(inherited: false, included: false).select do |method|
        method.visibility == :public && !method.has_tag?(:private)
      end
    end

    # Operators and aliases have no anchor that a link could name.
    def methods(object)
      links = public_methods_of(object).reject(&:is_alias?).map do |method|
        name = "#{(method.scope == :class) ? "." : "#"}#{method.name}"
        name.match?(/\A.\w+[?!=]?\z/) ? "[#{name}](#{url(object)}##{method.name}-#{method.scope}_method)" : "`#{name}`"
      end
      links.join(", ")
    end

    def url(object) = "../api/#{object.path.gsub("::", "/")}.html"

    # @return [Array<String>] the paths of classes and modules
    def declared(lines)
      open = [] # [indentation, name] of what is open
      lines.filter_map do |line|
        open.pop while open.any? && line.match?(/\A {0,#{open.last[0]}}\S/)
        next unless line =~ /\A( *)(?:class|module) ([\w:]+)/
        open << [$1.size, $2]
        open.map(&:last).join("::")
      end
    end
  end
end
