# frozen_string_literal: true

module Pelton
  module Web
    class Routes
      # Compiles routes to a single Ruby method, built from a tree of their segments at boot (docs/internals/adr/028).
      # The method tries matching places in the order of {Routes}: at each segment literals (`case`, a Hash lookup in
      # Ruby), then variables with a constraint or adjacent text, then plain variables, and splats last. If a branch has
      # no match, it tries the next one.
      class Tree
        # A place in the tree. All constrained variables of a segment share a node, whatever their patterns; the routes
        # below check which patterns match. `ends` are the routes that end here, `splats` those that end in a splat, by
        # whether it has constraints or adjacent text.
        Node = Struct.new(:literals, :constrained, :patterns, :plain, :ends, :splats) do
          def self.empty = new({}, nil, [], nil, Ends.new([], [], []), {})
        end

        # A place's routes in order of declaration: with a constrained format, with any format, and without.
        Ends = Struct.new(:chosen, :format, :whole) do
          def formats? = chosen.any? || format.any?
        end

        # A route at its place: code for its variables' values, and the matches that it requires.
        Entry = Struct.new(:captures, :matches, :verb, :endpoint) do
          def same_place?(other) = captures == other.captures && matches == other.matches
        end
        private_constant :Node, :Ends, :Entry

        # @return [String] the compiled method's code
        attr_reader :code

        def initialize
          @root = Node.empty
          @patterns = []
          @constraints = []
          @verbs = []
          @tables = []
        end

        # @param variant [Pattern::Variant]
        # @param constraints [Hash{Symbol => Regexp}]
        # @param verb [String, nil] see {Verbs#add}
        # @param endpoint [#call] see {Verbs#add}
        def add(variant, constraints, verb, endpoint)
          entry = Entry.new({}, [], verb, endpoint)
          segments = variant.segments
          last = segments.size
          path = variant.splat? ? segments[0...-1] : segments
          node = path.each.with_index(1).inject(@root) do |place, (segment, depth)|
            step(place, segment, depth, constraints, entry, variant.format && depth == last)
          end
          ends = variant.splat? ? splat(node, segments.last, last, variant, constraints, entry) : node.ends
          ends[ending(variant, constraints, entry)] << entry
        end

        # @return [Boolean] whether any path may have a format
        def formats? = @formats || false

        # Compiles {#find}.
        def compile
          places = body(@root, 1, [])
          @code = <<~RUBY
            def find(segments, stem, format, verb, env, matching = nil)
            #{"  size = segments.size\n#{places}" unless places.empty?}
              nil
            end
          RUBY
          instance_eval(@code, "(the routes)", 1)
          self
        end

        # @!method find(segments, stem, format, verb, env, matching = nil)
        #   Calls the endpoint of the route that matches.
        #   @param segments [Array<String>] the path's segments, after an empty one
        #   @param stem [String, nil] the last segment without its ending
        #   @param format [String, nil] the ending
        #   @param verb [String]
        #   @param matching [Array<Verbs>, nil] collects all matching places instead of calling an endpoint
        #   @return [Array, nil] Rack's response

        private

        def step(node, segment, depth, constraints, entry, stem)
          return node.literals[segment] ||= Node.empty if segment.is_a?(String)
          if segment.size == 1 && !constraints[segment.first]
            entry.captures[segment.first] = stem ? "stem" : "segments[#{depth}]"
            return node.plain ||= Node.empty
          end
          number = pattern(segment, constraints)
          match = "_#{stem ? "stem" : "segment"}#{depth}_#{number}"
          entry.matches << [depth, match]
          names_in(segment).each_with_index { |name, index| entry.captures[name] = "#{match}[#{index + 1}]" }
          node.patterns |= [number]
          node.constrained ||= Node.empty
        end

        def splat(node, segment, depth, variant, constraints, entry)
          names = names_in(segment)
          text = variant.format ? "start" : "rest"
          if segment.size == 1 && !constraints[names.first]
            entry.captures[names.first] = "text_of(#{text})"
            return node.splats[:plain] ||= Node.empty.ends
          end
          number = pattern(segment, constraints, variant.splats)
          entry.matches << [depth, "(m#{depth} = match(#{number}, #{text}))"]
          names.each_with_index { |name, index| entry.captures[name] = "m#{depth}[#{index}]" }
          node.splats[:constrained] ||= Node.empty.ends
        end

        def ending(variant, constraints, entry)
          return :whole unless variant.format
          @formats = true
          entry.captures[:format] = "format"
          return :format unless constraints[:format]
          entry.matches << [nil, "@patterns[#{number_of(/\A(?:#{constraints[:format]})\z/, [])}].match?(format)"]
          :chosen
        end

        # @param splats [Array<Symbol>, nil] variables that match slashes, in text of several segments
        # @return [Integer] the index of the segment's regular expression
        def pattern(segment, constraints, splats = nil)
          index = -1
          # Next to named groups, a constraint's unnamed groups do not capture. Variables' names do not matter: `/:id`
          # and `/:post_id` with the same constraint are one place.
          source = segment.map do |part|
            next Regexp.escape(part) if part.is_a?(String)
            "(?<v#{index += 1}>#{constraints[part] || ((splats && !splats.include?(part)) ? "[^/]+" : ".+")})"
          end
          number_of(Regexp.new("\\A(?=.)#{source.join}\\z", Regexp::MULTILINE),
            names_in(segment).map { |name| constraints[name] })
        end

        def number_of(regexp, constraints)
          @patterns.index(regexp) || (@constraints << constraints.map { |one| one && /\A(?:#{one})\z/ } &&
            @patterns.push(regexp).size - 1)
        end

        def names_in(parts) = parts.grep(Symbol)

        # The text that a splat matches, with the path's slashes. %2F is no separator: it becomes NUL here, which no
        # path contains.
        def joined(segments)
          if segments.any? { |segment| segment.include?("/") }
            segments = segments.map { |segment| segment.tr("/", "\0") }
          end
          segments.join("/")
        end

        def text_of(text) = text.include?("\0") ? text.tr("\0", "/") : text

        # @return [Array<String>, nil] the values of the pattern's variables
        def match(number, text)
          values = @patterns[number].match(text)&.captures
          return values unless values && text.include?("\0")
          values.map! { |value| text_of(value) }
          if @constraints[number].zip(values).all? { |constraint, value| constraint.nil? || constraint.match?(value) }
            values
          end
        end

        # @param open [Array<Integer>] depths at which several patterns may match, so each route below checks its own
        def body(node, depth, open)
          lines = []
          lines << "if size == #{depth}\n#{calls(node.ends.whole, open)}\nend" if node.ends.whole.any?
          lines << literals(node.literals, depth, open) if node.literals.any?
          lines << constrained(node, depth, open) if node.constrained
          lines << plain(node.plain, depth, open) if node.plain
          lines << splats(node.splats, depth, open) if node.splats.any?
          lines.reject(&:empty?).join("\n").gsub(/^(?=.)/, "  ")
        end

        def literals(nodes, depth, open)
          branches = nodes.map { |text, child| "when #{text.dump}\n#{body(child, depth + 1, open)}\n" }
          endings = nodes.select { |_, child| child.ends.formats? }.map do |text, child|
            "  when #{text.dump}\n#{formats(child.ends, open).gsub(/^/, "  ")}\n"
          end
          code = "case segments[#{depth}]\n#{branches.join}end"
          endings.any? ? "#{code}\nif stem && size == #{depth + 1}\n  case stem\n#{endings.join}  end\nend" : code
        end

        def constrained(node, depth, open)
          child, patterns = node.constrained, node.patterns
          open += [depth] if patterns.size > 1
          whole = segment("size > #{depth} && #{matches(patterns, "_segment#{depth}", "segments[#{depth}]")}", child,
            depth, open)
          return whole unless child.ends.formats?
          "if stem && size == #{depth + 1} && #{matches(patterns, "_stem#{depth}", "stem")}\n" \
          "#{formats(child.ends, open)}\nend\n#{whole}"
        end

        # Tries all patterns, since each route below needs its result.
        def matches(patterns, name, text)
          found = patterns.map { |number| "(#{name}_#{number} = @patterns[#{number}].match(#{text}))" }
          found.one? ? found.first : "[#{found.join(", ")}].any?"
        end

        def plain(child, depth, open)
          whole = segment("size > #{depth} && !segments[#{depth}].empty?", child, depth, open)
          child.ends.formats? ? "if stem && size == #{depth + 1}\n#{formats(child.ends, open)}\nend\n#{whole}" : whole
        end

        # No code if all routes end here in a format.
        def segment(condition, child, depth, open)
          body(child, depth + 1, open).then { |code| code.empty? ? "" : "if #{condition}\n#{code}\nend" }
        end

        def splats(kinds, depth, open)
          code = kinds.values_at(:constrained, :plain).compact.map do |ends|
            parts = []
            if ends.formats?
              parts <<
                "if stem\n  start = joined([*segments[#{depth}...-1], stem])\n#{formats(ends, open + [depth])}\nend"
            end
            parts << calls(ends.whole, open + [depth]) if ends.whole.any?
            parts.join("\n")
          end
          "if size > #{depth} && !(rest = joined(segments[#{depth}..])).empty?\n#{code.join("\n")}\nend"
        end

        def formats(ends, open)
          [ends.chosen, ends.format].reject(&:empty?).map { |entries| calls(entries, open) }.join("\n")
        end

        # Calls to the endpoints. A place has one table, unless its variables have different names or patterns: then
        # routes for the request's own verb come before those for all verbs.
        def calls(entries, open)
          runs = entries.slice_when { |one, other| !one.same_place?(other) }.map do |run|
            verbs = Verbs.new
            run.each { |entry| verbs.add(entry.verb, entry.endpoint) }
            @verbs << verbs.compile
            [run.first, verbs, @verbs.size - 1]
          end
          return call(*runs.first, runs.first[1].table, open) if runs.one?
          matching = runs.map { |entry, _, number| guarded(entry, "matching << @verbs[#{number}]", open) }
          found = runs.first[1].ranks.each_index.flat_map do |rank|
            runs.filter_map do |entry, verbs, _|
              (table = verbs.ranks[rank]) && guarded(entry, tried(entry, table), open)
            end
          end
          "if matching\n#{matching.join("\n")}\nelse\n#{found.join("\n")}\nend".gsub(/^/, "  ")
        end

        def call(entry, _verbs, number, table, open)
          guarded(entry, "if matching then matching << @verbs[#{number}]\nels#{tried(entry, table)}", open).gsub(/^/,
            "  ")
        end

        def tried(entry, table)
          @tables << table
          captures = entry.captures.map { |name, code| "#{name.to_s.dump} => #{code}" }.join(", ")
          "if (endpoint = @tables[#{@tables.size - 1}][verb]) && (answer = endpoint.call(env, {#{captures}}))\n" \
          "  return answer\nend"
        end

        def guarded(entry, code, open)
          conditions = entry.matches.filter_map { |depth, match| match if depth.nil? || open.include?(depth) }
          conditions.any? ? "if #{conditions.join(" && ")}\n#{code.gsub(/^/, "  ")}\nend" : code
        end
      end
    end
  end
end
