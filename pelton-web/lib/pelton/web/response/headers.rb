# frozen_string_literal: true

module Pelton
  module Web
    class Response
      # Response headers with lower-case names, as Rack requires. Refuses names and values that would start another
      # header.
      class Headers < Hash
        include Opaque

        # @!method put(name, value)
        # Sets a header unchecked: for the framework's own lower-case names and values.
        #   @private
        alias_method :put, :store

        # Lower-case names that need no check.
        COMMON = %w[
          accept-ranges allow cache-control content-disposition content-encoding content-language content-length
          content-range content-type etag expires last-modified
          link location retry-after set-cookie vary www-authenticate
        ].to_h { |name| [name, name] }.freeze
        private_constant :COMMON

        # @param name [String] in any case
        # @param value [String, Array<String>, #to_s, nil] nil deletes the header
        # @raise [ArgumentError] if the name is invalid, or the value contains a line end or NUL
        def []=(name, value)
          name = COMMON[name] || checked(name)
          value = value.is_a?(Array) ? value.map(&:to_s) : value&.to_s
          bad = value.is_a?(Array) ? value.any? { |one| malformed?(one) } : value && malformed?(value)
          raise ArgumentError, "the header #{name} contains a line end or NUL: #{value.inspect}" if bad
          super
          delete(name) if value.nil?
        end
        alias_method :store, :[]=

        # @param name [String, Symbol] in any case
        # @return [String, nil]
        def [](name) = super(COMMON[name] || name.to_s.downcase)

        # @param others [Array<Hash>]
        # @return [self]
        def update(*others)
          others.each { |other| other.each { |name, value| self[name] = value } }
          self
        end
        alias_method :merge!, :update

        private

        def checked(name)
          name = name.to_s.downcase
          unless name.match?(/\A[!#$%&'*+\-.^_`|~0-9a-z]+\z/)
            raise ArgumentError, "#{name.inspect} is no name of a header"
          end
          name
        end

        # Invalid UTF-8 never matches, so it is compared as bytes.
        def malformed?(text) = (text.ascii_only? ? text : text.b).match?(/[\r\n\0]/)
      end
    end
  end
end
