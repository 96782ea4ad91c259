# frozen_string_literal: true

require "fileutils"
require "tmpdir"
require "yard"
require_relative "page"
require_relative "signatures"

module Site
  # The API, as YARD reads it out of the sources: what is public, how it is grouped, and the URL of each object.
  #
  # sig/ says what is public in Pelton's own modules, and has the types. Methods that are written in C have their docstrings
  # in lib/, by `@!method`.
  class Api
    Group = Struct.new(:title, :objects)

    END_OF_CLASS = "END_OF_CLASS"

    # EventMachine's API, which sig/ does not declare: all that is not marked as private.
    FOREIGN = %w[EventMachine BufferedTokenizer].freeze

    # @return [Signatures]
    attr_reader :signatures

    # @param root [String] the repository
    def initialize(root)
      @signatures = Signatures.new(Dir["{.,pelton-*}/sig/**/*.rbs", base: root].sort.map { |file| File.join(root, file) })
      parse(Dir["{.,pelton-*}/lib/**/*.rb", base: root].sort.map { |file| file.delete_prefix("./") }, root)
      add_what_is_only_declared
      @namespaces = YARD::Registry.all(:class, :module).select { |object| shown?(object) }.sort_by(&:path)
    end

    # @return [Array<Group>] of classes and modules
    def groups
      @groups ||= @namespaces.group_by { |object| group_of(object) }.map { |title, objects| Group.new(title, objects) }
        .sort_by { |group| [(group.title == "Runtime") ? 0 : 1, (group.title == FOREIGN[0]) ? 1 : 0, group.title] }
    end

    # @return [Array<YARD::CodeObjects::MethodObject>] of a class or module, in the order of the sources
    def methods_of(namespace)
      namespace.meths(inherited: false, included: false).select { |method| shown_method?(method) }
    end

    # @return [Array<YARD::CodeObjects::ConstantObject>]
    def constants_of(namespace)
      namespace.constants(inherited: false, included: false).select { |one| !hidden?(one) && one.name.to_s != END_OF_CLASS && !one.docstring.blank? }
    end

    # @return [Array<String>] a method's types
    def types_of(method) = @signatures.methods.fetch(method.path.sub(/#new\z/, "#initialize"), [])

    # @return [String, nil] where an object is documented; nil when it is not
    def url(object)
      case object
      when YARD::CodeObjects::NamespaceObject
        "api/#{object.path.gsub("::", "/")}.html" if shown?(object)
      when YARD::CodeObjects::MethodObject
        "#{url(object.namespace)}##{anchor(object)}" if url(object.namespace) && shown_method?(object)
      when YARD::CodeObjects::ConstantObject
        "#{url(object.namespace)}##{anchor(object)}" if url(object.namespace) && constants_of(object.namespace).include?(object)
      end
    end

    # As YARD names it, but for operators.
    def anchor(object)
      name = object.name.to_s.gsub(/[^\w?!=]/) { |character| format("-%x", character.ord) }
      "#{name}-#{(object.type == :method) ? "#{object.scope}_method" : object.type}"
    end

    # @param name [String] "Stream#gets", "#gets"
    # @param from [YARD::CodeObjects::Base, String] where it is said
    # @return [YARD::CodeObjects::Base, nil]
    def find(name, from = "Pelton")
      from = YARD::Registry.at(from) if from.is_a?(String)
      name = name.sub(/\AEM\b/, "EventMachine")
      loop do
        found = YARD::Registry.resolve(from, name, true)
        return found if found || from.root?
        from = from.namespace
      end
    end

    private

    def parse(files, root)
      YARD::Tags::Library.define_tag("Asynchronous", :asynchronous)
      YARD::Registry.clear
      Dir.mktmpdir do |copy|
        files.each do |file|
          FileUtils.mkdir_p(File.dirname(File.join(copy, file)))
          File.write(File.join(copy, file), with_ends(File.read(File.join(root, file))))
        end
        Dir.chdir(copy) { YARD.parse(files, [], YARD::Logger::ERROR) }
      end
    end

    # YARD loses a directive behind a class's last statement: so there is one more, on the line of the class's end.
    def with_ends(source)
      source.gsub(/^( *)(# @!(?:(?! *end$).*\n)(?: *#.*\n|\n)*)( *)end$/) { "#{$1}#{$2}#{$3}#{END_OF_CLASS} = nil; end" }
    end

    # Such as the methods of Later, which a loop defines.
    def add_what_is_only_declared
      @signatures.methods.each_key do |path|
        namespace, separator, name = path.rpartition(/(?<!\A)[.#]/)
        owner = YARD::Registry.at(namespace)
        next if owner.nil? || YARD::Registry.at(path) || owner.child(name: name.to_sym, scope: (separator == ".") ? :class : :instance)
        YARD::CodeObjects::MethodObject.new(owner, name, (separator == ".") ? :class : :instance)
      end
    end

    def shown?(object)
      return false if hidden?(object) || hidden?(object.namespace)
      FOREIGN.include?(object.path[/\A\w+/]) ? !object.docstring.blank? || object.children.any? : @signatures.namespaces.include?(object.path)
    end

    def hidden?(object) = !object.root? && (object.visibility != :public || object.has_tag?(:private))

    def shown_method?(method)
      return false if hidden?(method) || method.name.start_with?("_")
      @signatures.methods.key?(method.path) || method.is_alias? || !@signatures.namespaces.include?(method.namespace.path)
    end

    def group_of(object)
      outer, inner = object.path.split("::")
      return FOREIGN[0] if FOREIGN.include?(outer)
      return "Errors" if object.path.count(":") == 2 && error?(object)
      (YARD::Registry.at("#{outer}::#{inner}")&.type == :module && @namespaces.count { |one| one.path.start_with?("#{outer}::#{inner}::") } > 1) ? inner : "Runtime"
    end

    def error?(object) = object.type == :class && object.inheritance_tree.any? { |one| %i[StandardError Exception].include?(one.name) }
  end
end
