# frozen_string_literal: true

require "erb"

module Pelton
  module Web
    class Routes
      # Writes a pattern's paths: the opposite of matching.
      class PathWriter
        # A path without optional parts: its variables, and its segments as Arrays of encoded Strings and Symbols.
        Form = Struct.new(:names, :segments, :variant)
        PLAIN = /\A[\w~-]+\z/
        private_constant :Form, :PLAIN

        # @return [Array<Symbol>] required variables; an optional part is written if all of its variables are given
        attr_reader :names

        def initialize(pattern)
          @path = pattern.path
          @forms = pattern.variants.map do |variant|
            Form.new(names_of(variant), variant.segments.map { |segment| Array(segment).map { |part| literal(part) } },
              variant)
          end
          @names = @forms.last.names
          @constraints = pattern.constraints.transform_values { |constraint| /\A(?:#{constraint})\z/ }
        end

        # @param values [Hash{Symbol => Object}] the variables' values, and others
        # @return [String] the path, percent-encoded
        # @raise [ArgumentError] if a value is missing, empty, or does not match
        def write(values)
          form = @forms.find { |one| one.names.all? { |name| !values[name].nil? } }
          raise ArgumentError, "#{@path} needs #{(@names - values.compact.keys).join(", ")}" unless form
          path = +""
          form.segments.each { |parts| path << "/" << segment(parts, values, form.variant.splats) }
          path << "/" if path.empty?
          path << "." << value(:format, values[:format]) if form.variant.format
          path
        end

        # @return [Array<Symbol>] all variables
        def all_names = @forms.first.names

        private

        def names_of(variant) = variant.segments.flatten.grep(Symbol) + (variant.format ? [:format] : [])

        def literal(part) = part.is_a?(Symbol) ? part : ERB::Util.url_encode(part).gsub("%2F", "/")

        def segment(parts, values, splats)
          text = written(parts.first, values, splats) if parts.size == 1
          text ||= parts.map { |part| written(part, values, splats) }.join
          return text if text.match?(PLAIN)
          # A browser would resolve "." and "..", also percent-encoded; an empty segment is none.
          if text.split("/", -1).then { |all| all.empty? || all.any? { |one| ["", ".", ".."].include?(one) } }
            raise ArgumentError, "#{@path}: #{text.inspect} is no part of a path"
          end
          text
        end

        def written(part, values, splats)
          part.is_a?(Symbol) ? value(part, values[part], splat: splats.include?(part)) : part
        end

        def value(name, value, splat: false)
          text = (value.respond_to?(:to_param) ? value.to_param : value).to_s
          raise ArgumentError, "#{@path}: #{name} must not be empty" if text.empty?
          if @constraints[name]&.match?(text) == false
            raise ArgumentError, "#{@path}: #{name} cannot be #{text.inspect}"
          end
          return text if text.match?(PLAIN)
          splat ? text.split("/", -1).map { |one| ERB::Util.url_encode(one) }.join("/") : ERB::Util.url_encode(text)
        end
      end
    end
  end
end
