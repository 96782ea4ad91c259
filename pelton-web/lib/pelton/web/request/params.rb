# frozen_string_literal: true

require_relative "params/types"
require_relative "params/upload"
require_relative "params/source"
require_relative "params/schema"

module Pelton
  module Web
    # A request's parameters, from its path, its query, and its form or JSON document, by name. Text is UTF-8 without
    # NUL.
    #
    #     params[:q]                                   # as it came: a String, an Array, a Hash, an Upload or nil
    #     params.integer(:page, default: 1, in: 1..100)
    #     params.enum(:sort, %w[name age], default: "name")
    #     params.require(:post).permit(:title, :body)  # {title: "...", body: "..."}
    #     params.permit(SCHEMA)                        # typed, with all mistakes in one answer: see {Schema}
    #
    # Without `default:` a parameter is required. A parameter that is present must be valid; otherwise {Invalid}
    # responds with 422 and names it, or {NotFound} with 404 for a variable of the path.
    class Params
      include Opaque

      # Raised if parameters are missing or invalid.
      class Invalid < RequestError
        status 422

        # @return [Hash{String => String}] messages by the parameters' names
        attr_reader :errors

        def initialize(errors)
          @errors = errors
          super("The request cannot be processed: " \
            "#{errors.map { |name, complaint| "#{name} #{complaint}" }.join("; ")}.")
        end

        # @return [Hash] the members that the problem document (RFC 9457) has besides the usual ones: `errors`
        def members = {errors: errors.map { |name, complaint| {name: name, detail: complaint} }}
      end

      REQUIRED = Object.new.freeze
      private_constant :REQUIRED

      # @param request [Request]
      # @param captures [Hash{String => String}] the path's variables
      # @raise [BadRequest] if they cannot be parsed
      # @asynchronous while the body is still arriving
      def self.of(request, captures)
        new(Source.read(request).merge!(captures), path: captures.keys)
      end

      # @param values [Hash{String => Object}]
      # @param prefix [String, nil] the name of the Hash that contains them
      # @param path [Array<String>] the names of the path's variables
      def initialize(values, prefix: nil, path: [])
        @values = values
        @prefix = prefix
        @path = path
      end

      # @return [String, Integer, Float, Boolean, Array, Hash, Upload, nil] the parameter unconverted; numbers and
      #   booleans come from JSON
      def [](name) = @values[name.to_s]

      def key?(name) = @values.key?(name.to_s)

      # @return [Array<String>] the names of the parameters
      def keys = @values.keys

      # @return [Hash{String => Object}] all parameters unconverted
      def to_h = @values.dup

      # @!method string(name, default:, in: nil, max: nil, format: nil)
      #   @param max [Integer] characters
      #   @param format [Regexp] must match the whole text
      #   @return [String]

      # @!method integer(name, default:, in: nil)
      #   @param in [Range] the allowed numbers; by default those of 64 bits
      #   @return [Integer]

      # @!method float(name, default:, in: nil)
      #   @return [Float] finite

      # @!method boolean(name, default:)
      #   @return [Boolean] true for "true", "1", "on" and "yes"; false for their opposites

      # @!method date(name, default:, in: nil)
      #   @return [Date] from "2026-11-22"

      # @!method time(name, default:, in: nil)
      #   @return [Time] from ISO 8601 with a time zone: "2026-11-22T18:00:00Z"

      # @!method file(name, default:, types: nil, max_bytes: nil)
      #   @param types [Array<String>] allowed types, by the file's bytes: see {Upload#type}
      #   @param max_bytes [Integer]
      #   @return [Upload]
      Types::NAMES.each do |type|
        define_method(type) { |name, default: REQUIRED, **options| typed(name, type, default, options) }
      end

      # @return [String, Symbol] one of the allowed values
      # @raise [Invalid, NotFound]
      def enum(name, allowed, default: REQUIRED) = typed(name, :enum, default, {of: allowed})

      # @param type [Symbol] of the elements
      # @param max [Integer] maximum number of elements
      # @raise [Invalid, NotFound]
      def array(name, type = :string, default: REQUIRED, max: 1000, **options)
        typed(name, :array, default, {of: type, max: max, **options})
      end

      # Returns the parameters inside of another one: `params.require(:post)` for the fields `post[title]` and
      # `post[body]`.
      #
      # @raise [Invalid] if there are none
      def require(name) = Params.new(typed(name, :hash, REQUIRED, {}), prefix: full(name))

      # Returns only these parameters, without missing ones. By name, they must be text, numbers or booleans, so that no
      # Hash gets into a query.
      #
      # @overload permit(*names)
      #   @param names [Array<Symbol>]
      # @overload permit(schema)
      #   @param schema [Schema]
      # @raise [Invalid] if a parameter does not match the schema, or is a list or a Hash
      def permit(*names)
        return names.first.read(@values, @prefix) if names.size == 1 && names.first.is_a?(Schema)
        names.each_with_object({}) do |name, all|
          next unless key?(name)
          value = self[name]
          if [Array, Hash, Upload].any? { |type| value.is_a?(type) }
            raise Invalid.new(full(name) => "must not be a list or a group of fields")
          end
          all[name.to_sym] = value
        end
      end

      private

      def full(name) = @prefix ? "#{@prefix}[#{name}]" : name.to_s

      def typed(name, type, default, options)
        value = self[name]
        if value.nil? || value == ""
          return default unless REQUIRED.equal?(default)
          complain(name, "is missing")
        end
        Types.convert(value, type, options) { |complaint| complain(name, complaint) }
      end

      def complain(name, complaint)
        raise @path.include?(name.to_s) ? NotFound.new : Invalid.new(full(name) => complaint)
      end
    end
  end
end
