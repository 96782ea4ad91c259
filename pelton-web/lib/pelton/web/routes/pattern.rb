# frozen_string_literal: true

require "mustermann"

module Pelton
  module Web
    class Routes
      # A route's path: `/posts/:id(.:format)`, in the syntax that Mustermann calls "rails". `:name` is a variable, which takes anything but
      # a slash; `*name` takes slashes, too; what is in parentheses may be missing; a backslash takes its meaning from what follows.
      class Pattern
        # A path without optional parts. Its segments are Strings, or Arrays of Strings and Symbols; `/*name` and all behind it is one segment.
        #
        # `splat` is whether the last segment may contain slashes; `format` whether the path ends in ".:format", which is not among the segments.
        Variant = Struct.new(:segments, :splat, :format)

        # What is behind an opening parenthesis: the inside, which may contain parentheses, and the rest.
        GROUP = /\A(?<inside>(?<balanced>(?:[^()\\]|\\.|\(\g<balanced>\))*))\)(?<rest>.*)\z/m
        private_constant :GROUP

        # @return [String]
        attr_reader :path

        # @return [Hash{Symbol => Regexp}] what the variables must match, as a whole
        attr_reader :constraints

        # @return [Array<Symbol>] its variables
        attr_reader :names

        # @raise [ConfigurationError] the path or a constraint is malformed
        def initialize(path, constraints: {})
          raise ConfigurationError, "the route #{path.inspect}: a path begins with a slash" unless path.is_a?(String) && path.start_with?("/")
          @path = path
          @names = Mustermann.new(path, type: :rails).names.map(&:to_sym)
          @constraints = check(constraints)
        rescue Mustermann::Error => error
          raise ConfigurationError, "the route #{path}: #{error.message}"
        end

        # @return [Boolean] whether it matches one path alone
        def static? = !@path.match?(/[:*()\\]/)

        # @return [Array<Variant>] with all of its optional parts first, without any last
        def variants = @variants ||= flat(@path).map { |path| variant(path) }

        # @return [String] the patterns around it, for the list of routes
        def to_s = @path

        private

        def check(constraints)
          constraints = constraints.transform_keys(&:to_sym).slice(*@names)
          constraints.each do |name, constraint|
            raise ConfigurationError, "the route #{@path}: the constraint of #{name} must be a Regexp without named groups" unless constraint.is_a?(Regexp) && constraint.names.empty?
          end
        end

        # "/a(/:b(/:c))" => ["/a/:b/:c", "/a/:b", "/a"]
        def flat(path)
          open = path.match(/\A((?:[^\\(]|\\.)*)\((.*)\z/m) or return [path]
          before, rest = open.captures
          group = rest.match(GROUP)
          inside, after = group[:inside], group[:rest]
          flat(before + inside + after) | flat(before + after)
        end

        def variant(path)
          template = Mustermann.new(path, type: :rails).to_templates.first
          format = template.end_with?(".{format}")
          template = template.delete_suffix(".{format}")
          cut = template.index("{+")&.then { |splat| template.rindex("/", splat) }
          head, splat = cut ? [template[0, cut], template[cut + 1..]] : [template, nil]
          segments = head.split("/").drop(1).map { |segment| parts(segment) }
          segments << parts(splat) if splat
          Variant.new(segments, !!splat, format)
        end

        # "{id}-{name}" => [:id, "-", :name]; "posts" => "posts"
        def parts(text)
          list = text.scan(/\{\+?(\w+)\}|([^{]+)/).map { |name, literal| name ? name.to_sym : Rack::Utils.unescape_path(literal).force_encoding(Encoding::UTF_8) }
          (list.size == 1 && list.first.is_a?(String)) ? list.first : list
        end
      end
    end
  end
end
