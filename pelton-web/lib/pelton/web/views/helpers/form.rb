# frozen_string_literal: true

require_relative "form/choices"
require_relative "form/nested"

module Pelton
  module Web
    module Helpers
      # The fields of a form, named by the form's scope (`post[title]`) and filled with the model's values.
      class Form
        include Choices
        include Nested

        # How inputs write times (HTML, section 2.3.5).
        TIMES = {"date" => "%Y-%m-%d", "time" => "%H:%M", "datetime-local" => "%Y-%m-%dT%H:%M", "month" => "%Y-%m",
                 "week" => "%G-W%V"}.freeze
        private_constant :TIMES

        # @return [Boolean] whether the model is in its database, as ActiveModel's `persisted?` or Sequel's `new?` says
        # @private
        def self._stored?(model)
          model.respond_to?(:persisted?) ? model.persisted? : model.respond_to?(:new?) && !model.new?
        end

        # The name of the fields' group: `post` for a Post, `blog_post` for a Blog::Post.
        # @private
        def self._scope(model)
          return model.model_name.param_key if model.respond_to?(:model_name)
          model.class.name.gsub("::", "_").gsub(/([a-z\d])([A-Z])/, '\1_\2').downcase
        end

        attr_reader :model
        alias_method :object, :model

        # @private
        def initialize(view, model, scope)
          @view = view
          @model = model
          @scope = scope&.to_s || (model && Form._scope(model))
        end

        # @!method text_field(name, **attributes)
        # There are fields for the types below, too, such as `email_field` and `datetime_local_field`, which has no time
        # zone.
        #   @return [HTML]
        %w[text email telephone url search number range color date time datetime_local month week hidden].each do |type|
          kind = {"telephone" => "tel", "datetime_local" => "datetime-local"}.fetch(type, type)
          define_method(:"#{type}_field") do |name, **attributes|
            input(kind, name, value: written(value(name), kind), **attributes)
          end
        end

        # A password is never filled in.
        def password_field(name, **attributes) = input("password", name, **attributes)

        # Needs `multipart: true` on the form.
        #
        # @param multiple [Boolean] whether users may choose several files
        def file_field(name, multiple: false, **attributes)
          input("file", name, **(multiple ? {name: "#{named(name)[:name]}[]", multiple: true} : {}), **attributes)
        end

        # @param name [Symbol]
        # @param value [Object] the text; without it, the model's
        # @param attributes [Hash] attributes of the element
        # @return [HTML]
        def text_area(name, value = value(name), **attributes)
          @view.tag(:textarea, @view.safe_join(["\n", value]), **named(name), **described(name), **attributes)
        end

        # @param value [Object, nil] the choice, for one of several radio buttons
        def label(name, text = name.to_s.tr("_", " ").capitalize, value: nil, **attributes)
          @view.tag(:label, text, for: value.nil? ? named(name)[:id] : id_of_choice(name, value), **attributes)
        end

        # @param text [String]
        # @param attributes [Hash] attributes of the element
        # @return [HTML]
        def submit(text = "Save", **attributes) = @view.tag(:button, text, type: "submit", **attributes)

        # Screen readers read it with its field, which refers to it by its id.
        #
        # @return [HTML, nil] an attribute's errors; nil if there are none
        def error(name, **attributes)
          messages = errors_of(name)
          @view.tag(:span, messages.join(", "), class: "error", id: id_of_error(name), **attributes) if messages.any?
        end

        private

        def input(type, name, **attributes)
          @view.tag(:input, type: type, **named(name), **((type == "hidden") ? {} : described(name)), **attributes)
        end

        def described(name)
          errors_of(name).any? ? {"aria-invalid": "true", "aria-describedby": id_of_error(name)} : {}
        end

        def errors_of(name) = @model.respond_to?(:errors) ? Array(@model.errors&.[](name)) : []

        def id_of_error(name) = "#{named(name)[:id]}_error"

        def named(name)
          return {name: name, id: Options._id(name)} unless @scope
          {name: "#{@scope}[#{name}]", id: Options._id("#{@scope}[#{name}]")}
        end

        # Invalid text for a number is shown again as the user wrote it.
        def value(name)
          return unless @model.respond_to?(name)
          value = @model.public_send(name)
          unless value.nil? && @model.respond_to?(:attribute_before_type_cast) && @model.has_attribute?(name)
            return value
          end
          @model.attribute_before_type_cast(name)
        end

        def written(value, type)
          (TIMES.key?(type) && value.respond_to?(:strftime)) ? value.strftime(TIMES[type]) : value
        end
      end
    end
  end
end
