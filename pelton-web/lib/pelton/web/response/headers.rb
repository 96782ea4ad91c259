# frozen_string_literal: true

module Pelton
  module Web
    class Response
      # Headers of a response, with lower-case names as Rack wants them. A name or a value that would begin another header is refused.
      class Headers < Hash
        include Opaque

        # @!method put(name, value)
        #   Sets a header without any check: for the framework's own names in lower case, and its own values.
        #   @private
        alias_method :put, :store

        # Names in lower case that need no check.
        COMMON = %w[
          accept-ranges allow cache-control content-disposition content-encoding content-language content-length content-range content-type etag expires last-modified
          link location retry-after set-cookie vary www-authenticate
        ].to_h { |name| [name, name] }.freeze
        private_constant :COMMON

        # @param name [String] in any case
        # @param value [String, Array<String>, #to_s, nil] nil deletes the header
        # @raise [ArgumentError] the name is none, or the value contains a line end or NUL
        def []=(name, value)
          name = COMMON[name] || checked(name)
          value = value.is_a?(Array) ? value.map(&:to_s) : value&.to_s
          bad = value.is_a?(Array) ? value.any? { |one| malformed?(one) } : value && malformed?(value)
          raise ArgumentError, "the header #{name} contains a line end or NUL: #{value.inspect}" if bad
          super
          delete(name) if value.nil?
        end
        alias_method :store, :[]=

        def [](name) = super(COMMON[name] || name.to_s.downcase)

        def update(*others)
          others.each { |other| other.each { |name, value| self[name] = value } }
          self
        end
        alias_method :merge!, :update

        private

        def checked(name)
          name = name.to_s.downcase
          raise ArgumentError, "#{name.inspect} is no name of a header" unless name.match?(/\A[!#$%&'*+\-.^_`|~0-9a-z]+\z/)
          name
        end

        # Text that is no UTF-8 matches nothing unless it is taken for bytes.
        def malformed?(text) = (text.ascii_only? ? text : text.b).match?(/[\r\n\0]/)
      end
    end
  end
end
