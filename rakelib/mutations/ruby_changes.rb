# frozen_string_literal: true

require "prism"
require_relative "change"

module Mutations
  # The changes that can be made to a Ruby file. Each replaces a whole node of Prism's tree, or its operator: comments
  # and the texts of heredocs stay as they are. Messages for people do too, since tests should not repeat them.
  class RubyChanges < Prism::Visitor
    COMPARISONS = {:< => "<=", :<= => "<", :> => ">=", :>= => ">", :== => "!=", :!= => "=="}.freeze
    SUMS = {:+ => "-", :- => "+"}.freeze
    LOGIC = {"&&" => "||", "||" => "&&", "and" => "or", "or" => "and"}.freeze
    # Their strings are names of files, or messages.
    TEXTS = %i[
      require require_relative autoload load raise fail abort exit warn puts print debug info error fatal on
    ].freeze
    PROSE = /[a-z,] [a-z]/
    # A value that somebody reads; assignments and calls for their effect are left alone.
    VALUES = [
      Prism::ArrayNode, Prism::HashNode, Prism::StringNode, Prism::InterpolatedStringNode, Prism::SymbolNode,
      Prism::InstanceVariableReadNode, Prism::LocalVariableReadNode, Prism::ConstantReadNode, Prism::IntegerNode
    ].freeze

    # @return [Array<Change>]
    def self.of(text) = new.tap { |visitor| Prism.parse(text).value.accept(visitor) }.changes

    def self.parses?(text) = Prism.parse_success?(text)

    attr_reader :changes

    def initialize
      @changes = []
      @methods = 0 # how many method definitions surround the node
      super
    end

    def visit_if_node(node) = conditional(node) { super }

    def visit_unless_node(node) = conditional(node) { super }

    # Never true, for it would not end.
    def visit_while_node(node)
      change(:condition, node.predicate, "false")
      super
    end

    def visit_until_node(node)
      change(:condition, node.predicate, "true")
      super
    end

    def visit_and_node(node)
      operator(:logic, node.operator_loc, LOGIC.fetch(node.operator))
      super
    end

    def visit_or_node(node)
      operator(:logic, node.operator_loc, LOGIC.fetch(node.operator))
      super
    end

    def visit_range_node(node)
      operator(:bound, node.operator_loc, (node.operator == "..") ? "..." : "..") if node.right
      super
    end

    def visit_call_node(node)
      bound(node)
      return super unless TEXTS.include?(node.name)
      node.receiver&.accept(self)
      node.arguments&.arguments&.each { |argument| argument.accept(self) unless text?(argument) }
      node.block&.accept(self)
    end

    def visit_def_node(node)
      @methods += 1
      result(node)
      super
      @methods -= 1
    end

    def visit_return_node(node)
      value = node.arguments
      change(:result, value, (value.slice == "nil") ? "true" : "nil") if value
      super
    end

    def visit_statements_node(node)
      calls = (@methods > 0) ? node.body.grep(Prism::CallNode) : []
      calls.each { |call| change(:call, call, "nil") if called_for_effect?(call) }
      super
    end

    def visit_true_node(node) = change(:literal, node, "false")

    def visit_false_node(node) = change(:literal, node, "true")

    def visit_integer_node(node) = change(:literal, node, (node.value + 1).to_s)

    def visit_float_node(node) = change(:literal, node, (node.value + 1).to_s)

    def visit_string_node(node)
      return if !node.opening || node.opening.start_with?("<<", "?") || node.content.match?(PROSE)
      operator(:literal, node.content_loc, node.content.empty? ? "~" : "")
    end

    # Pieces of a text: only the code within is visited.
    def visit_interpolated_string_node(node)
      node.parts.grep(Prism::EmbeddedStatementsNode).each { |part| part.accept(self) }
    end

    # Its value is what counts.
    def visit_embedded_statements_node(node)
      node.statements&.body&.each { |statement| statement.accept(self) }
    end

    private

    def conditional(node)
      predicate = node.predicate
      unless predicate.is_a?(Prism::TrueNode) || predicate.is_a?(Prism::FalseNode)
        change(:condition, predicate, "!(#{predicate.slice})")
        change(:condition, predicate, "true")
        change(:condition, predicate, "false")
      end
      yield
    end

    def bound(node)
      first = node.arguments&.arguments&.first
      return unless node.receiver && first && !node.call_operator_loc
      other = COMPARISONS[node.name]
      other ||= SUMS[node.name] if first.is_a?(Prism::IntegerNode)
      operator(:bound, node.message_loc, other) if other
    end

    def result(node)
      body = node.body
      return unless body.is_a?(Prism::StatementsNode)
      last = body.body.last
      if node.name.end_with?("?")
        change(:result, last, "!(#{last.slice})")
      elsif node.equal_loc || VALUES.include?(last.class)
        change(:result, last, last.is_a?(Prism::NilNode) ? "true" : "nil")
      end
    end

    def called_for_effect?(call) = call.receiver || call.arguments || call.block

    def text?(node) = node.is_a?(Prism::StringNode) || node.is_a?(Prism::InterpolatedStringNode)

    def change(kind, node, text) = operator(kind, node.location, text)

    def operator(kind, location, text) = @changes << Change.new(kind, location.start_offset, location.length, text)
  end
end
