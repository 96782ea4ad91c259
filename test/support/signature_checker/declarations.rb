# frozen_string_literal: true

require "yaml"
require_relative "values"
require_relative "form"

class SignatureChecker
  # The methods that the files in sig/ declare.
  class Declarations
    # A method's declaration.
    # @!attribute path [String] the class or module: "Pelton::Stream"
    # @!attribute singleton [Boolean]
    # @!attribute method [Symbol]
    # @!attribute forms [Array<Form>]
    # @!attribute owner [Module, nil] the class or module, when it is loaded
    Declared = Struct.new(:path, :singleton, :method, :forms, :owner) do
      def name = "#{path}#{singleton ? "." : "#"}#{method}"

      def text = forms.join(" | ")

      # How far from the root of all classes: of several declarations, that of the class closest to the receiver counts.
      def depth = owner.ancestors.size

      def for?(receiver)
        return Values.kind?(receiver, owner) unless singleton
        Values.kind?(receiver, Module) && receiver <= owner
      end
    end

    # @param root [String] the repository
    # @return [Declarations]
    def self.load(root)
      loader = RBS::EnvironmentLoader.new
      folders = Dir["#{root}/{.,pelton-*}/sig"]
      folders.each do |folder|
        loader.add(path: Pathname(folder))
        manifest = File.join(folder, "manifest.yaml")
        next unless File.exist?(manifest)
        YAML.load_file(manifest).fetch("dependencies").each do |one|
          loader.add(library: one.fetch("name"), version: nil)
        end
      end
      new(RBS::Environment.from_loader(loader).resolve_type_names, folders)
    end

    def initialize(environment, folders)
      builder = RBS::DefinitionBuilder.new(env: environment)
      values = Values.new(builder)
      own = environment.class_decls.reject { |_, entry| (files(entry) & folders).empty? }.keys
      @declared = own.flat_map do |type|
        path = type.to_s.delete_prefix("::")
        definitions = {false => builder.build_instance(type), true => builder.build_singleton(type)}
        definitions.flat_map do |singleton, definition|
          own = definition.methods.select { |name, method| method.defined_in == type && own_name?(name, method) }
          own.map do |name, method|
            Declared.new(path, singleton, name, method.method_types.map { |one| Form.new(one, values) })
          end
        end
      end
    end

    def names = @declared.map(&:name)

    # Yields the declarations whose class is loaded, each with the method.
    def each_loaded
      @declared.each do |declared|
        declared.owner ||= Values.constant(declared.path) || next
        holder = declared.singleton ? declared.owner.singleton_class : declared.owner
        next unless holder.method_defined?(declared.method) || holder.private_method_defined?(declared.method)
        method = holder.instance_method(declared.method)
        method = method.super_method until method.nil? || own?(method.owner) # modules of others are prepended
        yield declared, method if method
      end
    end

    private

    # `initialize` also makes a declaration of `new`.
    def own_name?(name, method) = name != :new || method.defs.none? { |one| one.member.name == :initialize }

    # The folders of the files that declare a class.
    def files(entry)
      entry.decls.map { |one| File.dirname(one.decl.location.buffer.name.to_s) }
    end

    # Whether a method is in a class of Pelton's gems, so that a method in its place does not change Ruby's own classes.
    def own?(owner)
      owner = owner.inspect[/\A#<Class:(.*)>\z/m, 1] if owner.singleton_class?
      owner.to_s.match?(/\A#?<?(?:Class:)?(?:Pelton|EventMachine|Active\w+::\w+::Pelton\w+)\b/) ||
        (owner.is_a?(Module) && owner.name.nil?)
    end
  end
end
