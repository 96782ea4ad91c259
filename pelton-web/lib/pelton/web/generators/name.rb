# frozen_string_literal: true

begin
  require "sequel/model/default_inflections" # by which Sequel finds a model's table
  require "sequel/model/inflections"
rescue LoadError => error
  raise unless error.path == "sequel/model/default_inflections"
end
require_relative "../routes/words"

module Pelton
  module Web
    module Generators
      # A name on the command line and its forms. `admin/blog_post` and `Admin::BlogPost` are the same.
      # @private
      class Name
        FORM = /\A[a-z][a-z0-9]*(?:_[a-z0-9]+)*\z/
        LONGEST = 100
        private_constant :FORM, :LONGEST

        # Sequel's rules.
        if defined?(::Sequel::Inflections)
          module Inflections
            extend ::Sequel::Inflections

            public_class_method :pluralize, :singularize
          end
          private_constant :Inflections
        end

        # @return [Array<String>] its parts, in lower case: ["admin", "blog_post"]
        attr_reader :parts

        # @raise [Refused] if it is invalid
        def initialize(text, kind)
          @parts = text.split(%r{::|/}, -1).map do |part|
            part.gsub(/([a-z\d])([A-Z])/, '\1_\2').gsub(/([A-Z]+)([A-Z][a-z])/, '\1_\2').downcase
          end
          return if text.size <= LONGEST && @parts.any? && @parts.all?(FORM)
          raise Refused, "#{text[0, LONGEST].inspect} cannot be the name of a #{kind}: use letters, digits and _, as " \
            "in blog_post or admin/blog_post"
        end

        # @return [String] "blog_post"
        def last = @parts.last

        # @return [Array<String>] ["admin"]
        def namespaces = @parts[0..-2]

        # @return [String] "admin/blog_post", for files
        def path = @parts.join("/")

        # @return [String] "admin_blog_post", for method names
        def flat = @parts.join("_")

        # @return [String] "Admin::BlogPost"
        def constant = @parts.map { |part| Name.camel(part) }.join("::")

        # @return [String] "Blog post"
        def human = last.tr("_", " ").capitalize

        # @return [Name] with its last part in the singular
        def singular = with(Name.singular(last))

        # @return [Name] with its last part in the plural
        def plural = with(Name.plural(last))

        # @return [Boolean] whether it is a plural
        def plural? = Name.singular(last) != last

        class << self
          # @return [String] "BlogPost"
          def camel(word) = word.split("_").map(&:capitalize).join

          def plural(word) = defined?(Inflections) ? Inflections.pluralize(word) : Routes::Words.plural(word)

          def singular(word) = defined?(Inflections) ? Inflections.singularize(word) : Routes::Words.singular(word)
        end

        private

        def with(last) = dup.tap { |name| name.instance_variable_set(:@parts, [*namespaces, last]) }
      end
    end
  end
end
