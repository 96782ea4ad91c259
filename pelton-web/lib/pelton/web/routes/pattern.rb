# frozen_string_literal: true

require "mustermann"

module Pelton
  module Web
    class Routes
      # A route's path, such as `/posts/:id(.:format)`, in Mustermann's syntax "rails". `:name` is a variable, which
      # matches anything but a slash; `*name` also matches slashes; parts in parentheses are optional; a backslash
      # escapes the next character.
      class Pattern
        # A path without optional parts. Its segments are Strings, or Arrays of Strings and Symbols; `/*name` and the
        # rest after it is one segment.
        #
        # `splats` are the variables that match slashes; if there are any, the last segment contains them. `format` is
        # whether the path ends in ".:format", which is not part of the segments.
        Variant = Struct.new(:segments, :splats, :format) do
          def splat? = splats.any?

          # Whether it matches a single path, written as it is.
          def static? = !format && segments.all? { |segment| segment.is_a?(String) && segment.match?(/\A[^%]*\z/) }
        end

        # The text after an opening parenthesis: the inside, which may contain parentheses, and the rest.
        GROUP = /\A(?<inside>(?<balanced>(?:[^()\\]|\\.|\(\g<balanced>\))*))\)(?<rest>.*)\z/m
        private_constant :GROUP

        attr_reader :path

        # @return [Hash{Symbol => Regexp}] patterns that match variables as a whole
        attr_reader :constraints

        # @return [Array<Symbol>] its variables
        attr_reader :names

        # @raise [ConfigurationError] if the path or a constraint is malformed
        def initialize(path, constraints: {})
          unless path.is_a?(String) && path.start_with?("/")
            raise ConfigurationError, "the route #{path.inspect}: a path begins with a slash"
          end
          @path = path
          @names = Mustermann.new(path, type: :rails).names.map(&:to_sym)
          @constraints = check(constraints)
          variants
        rescue Mustermann::Error => error
          raise ConfigurationError, "the route #{path}: #{error.message}"
        end

        # @return [Array<Variant>] first with all optional parts, last with none
        def variants = @variants ||= flat(@path).map { |path| variant(path) }

        # @return [String] the path with the patterns around it, for the list of routes
        def to_s = @path

        private

        def check(constraints)
          constraints = constraints.transform_keys(&:to_sym).slice(*@names)
          constraints.each do |name, constraint|
            unless constraint.is_a?(Regexp) && constraint.names.empty?
              raise ConfigurationError,
                "the route #{@path}: the constraint of #{name} must be a Regexp without named groups"
            end
          end
        end

        # "/a(/:b(/:c))" => ["/a/:b/:c", "/a/:b", "/a"]
        def flat(path)
          open = path.match(/\A((?:[^\\(]|\\.)*)\((.*)\z/m) or return [path]
          before, rest = open.captures
          group = rest.match(GROUP)
          inside, after = [group[:inside], group[:rest]].map { |text| apart(text) }
          flat(before + inside + after) | flat(before + after)
        end

        # Text next to a parenthesis is not part of a preceding variable's name.
        def apart(text) = text.sub(/\A(?=\w)/, "\\")

        def variant(path)
          templates = Mustermann.new(path, type: :rails).to_templates
          if templates.size > 1
            raise ConfigurationError, "the route #{@path}: declare a route for each alternative instead of |"
          end
          template = templates.first
          format = template.end_with?(".{format}")
          template = template.delete_suffix(".{format}")
          cut = template.index("{+")&.then { |splat| template.rindex("/", splat) }
          head, splat = cut ? [template[0, cut], template[cut + 1..]] : [template, nil]
          segments = head.split("/").drop(1).map { |segment| parts(segment) }
          segments << parts(splat) if splat
          Variant.new(segments, template.scan(/\{\+(\w+)\}/).map { |name,| name.to_sym }, format)
        end

        # "{id}-{name}" => [:id, "-", :name]; "posts" => "posts"
        def parts(text)
          list = text.scan(/\{\+?(\w+)\}|([^{]+)/).map { |name, literal| name ? name.to_sym : literal(literal) }
          (list.size == 1 && list.first.is_a?(String)) ? list.first : list
        end

        # A path may be declared percent-encoded: "/a%20b" means "/a b".
        def literal(template)
          text = Rack::Utils.unescape_path(Rack::Utils.unescape_path(template).gsub(/%(?!\h\h)/,
            "%25")).force_encoding(Encoding::UTF_8)
          wrong = !text.valid_encoding? || text.match?(/[\0-\x1f\x7f]/) || template.match?(/%252f/i)
          if wrong
            raise(ConfigurationError,
              "the route #{@path}: no request has such a path: it is UTF-8, without control characters and %2F")
          else
            text
          end
        end
      end
    end
  end
end
