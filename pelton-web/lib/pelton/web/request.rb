# frozen_string_literal: true

require "json"

module Pelton
  module Web
    # Raised if a request's body is larger than the application accepts.
    class TooLarge < RequestError
      status 413
    end

    class Settings
      # Default limits for {Settings#params}: the depth of `a[b][c]`, the number of parameters, and the bytes of a
      # query, of a form without its files, and of a JSON document.
      PARAMS = {depth: 16, count: 1000, bytes: 1 << 20}.freeze

      # @!attribute params
      #   @return [Hash{Symbol => Integer}] limits for parameters: see {PARAMS}
      setting(:params, PARAMS) do |value|
        unless value.is_a?(Hash) && (value.keys - PARAMS.keys).empty? && value.values.all?(Integer)
          "must be a Hash of #{PARAMS.keys.join(", ")}"
        end
      end
    end

    # Rack's request, with limits on parameters.
    class Request < Rack::Request
      include Opaque

      FORMS = %w[application/x-www-form-urlencoded multipart/form-data].freeze
      # Messages for clients: Rack's are for its developers.
      MALFORMED = {
        "Rack::Multipart::EmptyContentError" => "it ends before its last part, or has not the boundary that its " \
          "content-type names.",
        "Rack::Multipart::MultipartPartLimitError" => "it has too many files.",
        "Rack::Multipart::MultipartTotalPartLimitError" => "it has too many parts."
      }.freeze
      private_constant :FORMS, :MALFORMED

      # @param env [Hash]
      # @param settings [Settings, nil] the application's
      def initialize(env, settings = nil)
        super(env)
        @settings = settings || DEFAULTS
      end

      # @return [Hash{String => Object}] the query's parameters
      # @raise [BadRequest] if they cannot be parsed
      def query = read("query") { self.GET }

      # @return [Hash{String => Object}] the form's fields
      # @raise [BadRequest] if they cannot be parsed
      # @raise [TooLarge]
      # @asynchronous while the form is still arriving
      def form
        if media_type == "multipart/form-data" && media_type_params["boundary"].to_s.empty?
          raise BadRequest, "The form cannot be read: its content-type names no boundary."
        end
        read("form") { self.POST }
      end

      # @return [Object] the parsed JSON body (RFC 8259); an empty Hash if there is none
      # @raise [BadRequest] if it is invalid or nested too deeply
      # @raise [TooLarge]
      # @asynchronous while the body is still arriving
      def json
        @json ||= [parse(text)]
        @json.first
      end

      # @return [Boolean] whether the content-type is JSON
      def json? = media_type&.match?(%r{\Aapplication/(?:[\w.-]+\+)?json\z}) || false

      # @return [Boolean] whether the content-type is a form or JSON
      def body? = form_data? || json?

      # Rack takes a POST without a content-type for a form; here a form must have one.
      def form_data? = FORMS.include?(media_type)

      # @private Rack's, which does not count the pairs of a multipart form.
      def form_pairs
        super.tap do |pairs|
          if pairs.size > limit(:count)
            raise Rack::QueryParser::QueryLimitError, "there are more than #{limit(:count)} fields"
          end
          bytes = pairs.sum { |name, value| name.to_s.bytesize + (value.is_a?(String) ? value.bytesize : 0) }
          if bytes > limit(:bytes)
            raise Rack::QueryParser::QueryLimitError, "its text has more than #{limit(:bytes)} bytes"
          end
        end
      end

      private

      def limit(name) = @settings.params.fetch(name) { Settings::PARAMS.fetch(name) }

      def query_parser
        @query_parser ||= Rack::QueryParser.make_default(limit(:depth), bytesize_limit: limit(:bytes),
          params_limit: limit(:count))
      end

      def read(what)
        yield
      rescue Rack::BadRequest, EncodingError, EOFError => error
        raise BadRequest, "The #{what} cannot be read: #{MALFORMED.fetch(error.class.name) { error.message.scrub }}"
      end

      def text
        bytes = body&.read(limit(:bytes) + 1) || +""
        raise TooLarge, "The JSON document is larger than #{limit(:bytes)} bytes." if bytes.bytesize > limit(:bytes)
        bytes.force_encoding(Encoding::UTF_8)
        raise BadRequest, "The JSON document is not UTF-8." unless bytes.valid_encoding?
        bytes
      end

      def parse(text)
        return {} if text.empty?
        JSON.parse(text, max_nesting: limit(:depth)).tap { |value| check(value, limit(:count)) }
      rescue JSON::NestingError
        raise BadRequest, "The JSON document is nested more than #{limit(:depth)} levels deep."
      rescue JSON::ParserError
        raise BadRequest, "The body is no JSON document."
      end

      # Counts names and elements like a form's fields. Ruby reads a number such as 1e400 as infinite.
      #
      # @return [Integer] how many more are allowed
      def check(value, left)
        case value
        when Hash then left = value.each_value.inject(left - value.size) { |rest, one| check(one, rest) }
        when Array then left = value.inject(left - value.size) { |rest, one| check(one, rest) }
        when Float then raise BadRequest, "The JSON document contains a number that is too large." unless value.finite?
        end
        raise BadRequest, "The JSON document has more than #{limit(:count)} names and elements." if left.negative?
        left
      end

      DEFAULTS = Settings.new.freeze
      private_constant :DEFAULTS
    end
  end
end
