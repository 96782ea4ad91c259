# frozen_string_literal: true

module Pelton
  module Web
    class Routes
      # Methods for the paths and URLs of named routes, `post_path(post)` and `post_url(post)`, in the application's
      # controllers and as `Shop.urls.post_path(1)`.
      #
      # Arguments are the variables' values in order; objects use `to_param`, else `id`. Variables may also be keywords;
      # other keywords become the query, and `anchor:` the fragment.
      class Urls < Module
        # @param routes [Array<Route>]
        # @param base [String, nil] the beginning of URLs without a request: "https://example.com"
        def initialize(routes, base: nil)
          super()
          @base = base
          routes.select(&:name).uniq(&:name).each { |route| define(route) }
          extend(self)
        end

        # @private
        def url_prefix = ""

        # @private
        def url_base = @base || raise(ConfigurationError, "a URL without a request needs settings.base_url")

        private

        def define(route)
          writer = PathWriter.new(route.pattern)
          define_method(:"#{route.name}_path") { |*values, **options| url_prefix + Urls.write(writer, values, options) }
          define_method(:"#{route.name}_url") do |*values, **options|
            url_base + url_prefix + Urls.write(writer, values, options)
          end
        end

        class << self
          # @private
          def write(writer, values, options)
            names = writer.names
            names -= options.keys unless options.empty?
            names = writer.all_names - options.keys if values.size > names.size
            if values.size > names.size
              raise ArgumentError, "too many arguments: #{values.size} for #{names.join(", ")}"
            end
            given = {}
            values.each_with_index { |value, index| given[names[index]] = text(value) unless value.nil? }
            options.empty? ? writer.write(given) : write_with(writer, given, options)
          end

          private

          def write_with(writer, given, options)
            given.merge!(options.slice(*writer.all_names).transform_values { |value| text(value) })
            query = options.except(*writer.all_names, :anchor)
            path = writer.write(given)
            path << "?#{Rack::Utils.build_nested_query(strings(query))}" if query.any?
            path << "##{ERB::Util.url_encode(options[:anchor].to_s)}" if options[:anchor]
            path
          end

          def text(value)
            return value if value.is_a?(String) || value.is_a?(Integer)
            # Active Support's is to_s
            return value.to_param if value.respond_to?(:to_param) && value.method(:to_param).owner != Object
            (value.respond_to?(:id) && !value.is_a?(String)) ? value.id : value
          end

          # Rack escapes Strings only.
          def strings(value)
            case value
            when Hash then value.to_h { |name, one| [name.to_s, strings(one)] }
            when Array then value.map { |one| strings(one) }
            else value&.to_s
            end
          end
        end
      end
    end
  end
end
