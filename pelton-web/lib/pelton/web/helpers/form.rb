# frozen_string_literal: true

module Pelton
  module Web
    module Helpers
      # The fields of a form. Each is named after the form's scope (`post[title]`), and has the model's value.
      class Form
        # @return [Object, nil]
        attr_reader :model

        # @private
        def initialize(view, model, scope)
          @view = view
          @model = model
          @scope = scope&.to_s || (model && scope_of(model))
        end

        # @!method text_field(name, **attributes)
        #   @return [HTML]
        # @!method email_field(name, **attributes)
        #   @return [HTML]
        # @!method number_field(name, **attributes)
        #   @return [HTML]
        # @!method date_field(name, **attributes)
        #   @return [HTML]
        # @!method search_field(name, **attributes)
        #   @return [HTML]
        # @!method url_field(name, **attributes)
        #   @return [HTML]
        # @!method hidden_field(name, **attributes)
        #   @return [HTML]
        %w[text email number date search url hidden].each do |type|
          define_method(:"#{type}_field") { |name, **attributes| input(type, name, value: value(name), **attributes) }
        end

        # A password is never filled in.
        #
        # @return [HTML]
        def password_field(name, **attributes) = input("password", name, **attributes)

        # The form needs `multipart: true`.
        #
        # @return [HTML]
        def file_field(name, **attributes) = input("file", name, **attributes)

        # @return [HTML]
        def text_area(name, value = value(name), **attributes) = @view.tag(:textarea, @view.safe_join(["\n", value]), **named(name), **attributes)

        # Sends "1" or "0".
        #
        # @return [HTML]
        def check_box(name, **attributes)
          checked = ![nil, false, 0, "0", ""].include?(value(name))
          @view.safe_join([@view.tag(:input, type: "hidden", name: named(name)[:name], value: "0", autocomplete: "off"),
            input("checkbox", name, value: "1", checked: checked, **attributes)])
        end

        # @return [HTML]
        def radio_button(name, choice, **attributes)
          input("radio", name, value: choice, checked: value(name).to_s == choice.to_s, **attributes, id: "#{named(name)[:id]}_#{choice}")
        end

        # @param choices [Array<String>, Array<(String, Object)>, Hash] what is shown, and the value
        # @param include_blank [Boolean, String] whether there is an empty choice first
        # @return [HTML]
        def select(name, choices, include_blank: false, **attributes)
          chosen = value(name).to_s
          options = choices.map { |text, value = text| @view.tag(:option, text, value: value, selected: value.to_s == chosen) }
          options.unshift(@view.tag(:option, (include_blank == true) ? "" : include_blank, value: "")) if include_blank
          @view.tag(:select, @view.safe_join(options), **named(name), **attributes)
        end

        # @return [HTML]
        def label(name, text = name.to_s.tr("_", " ").capitalize, **attributes) = @view.tag(:label, text, for: named(name)[:id], **attributes)

        # @return [HTML]
        def submit(text = "Save", **attributes) = @view.tag(:button, text, type: "submit", **attributes)

        # @return [HTML, nil] what is wrong with an attribute of the model; nil: nothing
        def error(name, **attributes)
          messages = @model.respond_to?(:errors) ? @model.errors[name] : []
          @view.tag(:span, messages.join(", "), class: "error", **attributes) if messages.any?
        end

        private

        def input(type, name, **attributes) = @view.tag(:input, type: type, **named(name), **attributes)

        def named(name)
          return {name: name, id: name} unless @scope
          {name: "#{@scope}[#{name}]", id: "#{@scope}_#{name}"}
        end

        def value(name) = @model.respond_to?(name) ? @model.public_send(name) : nil

        # The name under which its attributes are sent: `post` for a Post, `blog_post` for a Blog::Post.
        def scope_of(model)
          return model.model_name.param_key if model.respond_to?(:model_name)
          model.class.name.gsub("::", "_").gsub(/([a-z\d])([A-Z])/, '\1_\2').downcase
        end
      end
    end
  end
end
