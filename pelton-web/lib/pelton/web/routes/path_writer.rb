# frozen_string_literal: true

require "erb"

module Pelton
  module Web
    class Routes
      # Writes a pattern's paths: the opposite of matching.
      class PathWriter
        # @return [Array<Symbol>] required variables; an optional part is written if all of its variables are given
        attr_reader :names

        def initialize(pattern)
          @path = pattern.path
          @variants = pattern.variants
          @names = names_of(@variants.last)
          @constraints = pattern.constraints.transform_values { |constraint| /\A(?:#{constraint})\z/ }
        end

        # @param values [Hash{Symbol => Object}] the variables' values, and others
        # @return [String] the path, percent-encoded
        # @raise [ArgumentError] if a value is missing, empty, or does not match
        def write(values)
          variant = @variants.find { |one| names_of(one).all? { |name| !values[name].nil? } }
          raise ArgumentError, "#{@path} needs #{(@names - values.compact.keys).join(", ")}" unless variant
          path = variant.segments.map { |segment| "/#{segment(segment, values, variant.splats)}" }.join
          path = "/" if path.empty?
          variant.format ? "#{path}.#{value(:format, values[:format])}" : path
        end

        # @return [Array<Symbol>] all variables
        def all_names = names_of(@variants.first)

        private

        def names_of(variant) = variant.segments.flatten.grep(Symbol) + (variant.format ? [:format] : [])

        def segment(segment, values, splats)
          text = Array(segment).map { |part| part.is_a?(Symbol) ? value(part, values[part], splat: splats.include?(part)) : ERB::Util.url_encode(part).gsub("%2F", "/") }.join
          # A browser would resolve "." and "..", also percent-encoded; an empty segment is none.
          raise ArgumentError, "#{@path}: #{text.inspect} is no part of a path" if text.split("/", -1).then { |all| all.empty? || all.any? { |one| ["", ".", ".."].include?(one) } }
          text
        end

        def value(name, value, splat: false)
          text = (value.respond_to?(:to_param) ? value.to_param : value).to_s
          raise ArgumentError, "#{@path}: #{name} must not be empty" if text.empty?
          raise ArgumentError, "#{@path}: #{name} cannot be #{text.inspect}" if @constraints[name]&.match?(text) == false
          return text if text.match?(/\A[\w~-]+\z/)
          splat ? text.split("/", -1).map { |one| ERB::Util.url_encode(one) }.join("/") : ERB::Util.url_encode(text)
        end
      end
    end
  end
end
