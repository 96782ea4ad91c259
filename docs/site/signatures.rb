# frozen_string_literal: true

module Site
  # What the RBS files declare: which classes, modules and methods are public, and the methods' types. It reads the form that
  # sig/ has, a declaration a line, and types that go on in lines which begin with "|".
  class Signatures
    # @return [Hash{String => Array<String>}] from "Pelton::Stream#gets" to its types, one for each overload
    attr_reader :methods

    # @return [Array<String>] of classes and modules
    attr_reader :namespaces

    # @param files [Array<String>] paths
    def initialize(files)
      @methods = {}
      @namespaces = []
      files.each { |file| read(File.readlines(file, chomp: true)) }
    end

    private

    def read(lines)
      open = [] # [indentation, name] of what is open
      lines.each do |line|
        open.pop while open.any? && line.match?(/\A {0,#{open.last[0]}}\S/)
        path = open.map(&:last).join("::")
        case line
        when /\A( *)(class|module|interface) ([\w:]+)/
          open << [$1.size, $3]
          @namespaces |= [[path, $3].reject(&:empty?).join("::")] unless $2 == "interface"
        when /\A *def (self\.)?([^\s:]+|\S+?): (.*)/
          @methods[@last = name(path, ($1) ? "." : "#", $2)] = [$3]
        when /\A *attr_(\w+) (self\.)?(\w+): (.*)/
          attribute(path, $1, ($2) ? "." : "#", $3, $4)
        when /\A *\| (.*)/
          @methods.fetch(@last) << $1
        end
      end
    end

    def attribute(path, kind, separator, attribute, type)
      @methods[name(path, separator, attribute)] = ["() -> #{type}"] unless kind == "writer"
      @methods[name(path, separator, "#{attribute}=")] = ["(#{type}) -> #{type}"] unless kind == "reader"
    end

    def name(path, separator, method) = "#{path}#{separator}#{method}"
  end
end
