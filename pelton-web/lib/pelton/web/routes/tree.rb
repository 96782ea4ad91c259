# frozen_string_literal: true

module Pelton
  module Web
    class Routes
      # Routes as one method of Ruby code, which is made of a tree of their segments when the application boots (docs/adr/028).
      #
      # At each segment a literal one is tried first (`case`, which Ruby looks up in a Hash), then constrained and compound variables in the
      # order of their routes, then plain variables, and a splat last. Where a branch leads nowhere the next one is tried, so a request gets
      # the most specific of the routes that match.
      class Tree
        # A place in the tree. `leaves` are {Verbs} by the expressions that give the values of the path's variables.
        Node = Struct.new(:literals, :constrained, :plain, :leaves, :splats) do
          def self.empty = new({}, {}, nil, {}, {})
        end
        private_constant :Node

        # @return [String] the code of the compiled method
        attr_reader :code

        # @param settings [Settings, nil] the application's
        # @param format [Boolean] whether its paths had a format, which was cut off
        def initialize(settings = nil, format: false)
          @settings = settings
          @format = format
          @root = Node.empty
          @leaves = []
          @patterns = []
        end

        # Adds a path.
        #
        # @param variant [Pattern::Variant]
        # @param constraints [Hash{Symbol => Regexp}]
        # @return [Verbs] what is at this place
        def add(variant, constraints)
          values = {}
          segments = variant.segments
          last = variant.splat ? segments.last : nil
          node = (last ? segments[0...-1] : segments).each.with_index(1).inject(@root) { |place, (segment, depth)| step(place, segment, depth, constraints, values) }
          leaves = node.leaves
          if last
            leaves = node.splats[pattern(last, constraints, splat: true)] ||= {}
            names_in(last).each_with_index { |name, index| values[name] = "m[#{index + 1}]" }
          end
          values[:format] = "format" if @format
          leaves[[values, (constraints[:format] if @format)]] ||= Verbs.new(@settings).tap { |verbs| @leaves << verbs }
        end

        # @return [Boolean] whether it has no routes
        def empty? = @leaves.empty?

        # Compiles {#find}.
        def compile
          @leaves.each(&:compile)
          @tables = @leaves.map(&:table)
          @code = empty? ? "def find(*) = nil\n" : <<~RUBY
            def find(segments, format, verb, env, matching = nil)
              size = segments.size
            #{body(@root, 1).gsub(/^/, "  ")}
              nil
            end
          RUBY
          instance_eval(@code, "(the routes of #{self.class})", 1)
          self
        end

        # @!method find(segments, format, verb, env, matching = nil)
        #   Calls the endpoint of the route that matches.
        #   @param segments [Array<String>] of the path, behind an empty one
        #   @param format [String, nil] the path's ending
        #   @param verb [String, nil] nil: calls nothing
        #   @param matching [Array<Verbs>, nil] gets what is at all places that match
        #   @return [Array, nil] Rack's response

        private

        def step(node, segment, depth, constraints, values)
          return node.literals[segment] ||= Node.empty if segment.is_a?(String)
          if segment.size == 1 && !constraints[segment.first]
            values[segment.first] = "segments[#{depth}]"
            return node.plain ||= Node.empty
          end
          segment.grep(Symbol).each_with_index { |name, index| values[name] = "m#{depth}[#{index + 1}]" }
          node.constrained[pattern(segment, constraints)] ||= Node.empty
        end

        # @return [Integer] the number of the segment's regular expression
        def pattern(segment, constraints, splat: false)
          source = segment.map do |part|
            # Beside groups with names, those of the constraint without names do not count.
            if part.is_a?(String)
              Regexp.escape(part)
            else
              "(?<#{part}>#{constraints[part] || (splat ? ".+" : "[^/]+")})"
            end
          end
          regexp = Regexp.new("\\A#{source.join}\\z", Regexp::MULTILINE)
          @patterns.index(regexp) || @patterns.push(regexp).size - 1
        end

        def names_in(parts) = parts.grep(Symbol)

        def body(node, depth)
          lines = []
          lines << "if size == #{depth}\n#{leaves(node.leaves)}\nend" if node.leaves.any?
          lines << literals(node.literals, depth) if node.literals.any?
          lines.concat(node.constrained.map { |pattern, child| "if size > #{depth} && (m#{depth} = @patterns[#{pattern}].match(segments[#{depth}]))\n#{body(child, depth + 1)}\nend" })
          lines << "if size > #{depth} && !segments[#{depth}].empty?\n#{body(node.plain, depth + 1)}\nend" if node.plain
          lines.concat(node.splats.map { |pattern, found| "if size > #{depth} && (m = @patterns[#{pattern}].match(segments[#{depth}..].join(\"/\")))\n#{leaves(found)}\nend" })
          lines.join("\n").gsub(/^/, "  ")
        end

        def literals(nodes, depth)
          branches = nodes.map { |text, child| "when #{text.dump}\n#{body(child, depth + 1)}\n" }
          "case segments[#{depth}]\n#{branches.join}end"
        end

        def leaves(found)
          found.map do |(values, format), verbs|
            number = @leaves.index(verbs)
            captures = values.map { |name, code| "#{name.to_s.dump} => #{code}" }.join(", ")
            call = "  matching << @leaves[#{number}] if matching\n  if (endpoint = @tables[#{number}][verb]) && (answer = endpoint.call(env, {#{captures}}))\n    return answer\n  end"
            format ? "  if #{Regexp.new("\\A(?:#{format})\\z").inspect}.match?(format)\n#{call.gsub(/^/, "  ")}\n  end" : call
          end.join("\n")
        end
      end
    end
  end
end
