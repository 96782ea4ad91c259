# frozen_string_literal: true

require_relative "form"

module Pelton
  module Web
    module Helpers
      # Forms.
      module Forms
        # A form. Methods other than GET and POST are sent as `_method`. The token against requests from other sites is in it where the
        # application asks for one.
        #
        #     <%= form_with(model: @post, url: "/posts") do |form| %>
        #       <%= form.text_field :title %>
        #       <%= form.submit "Save" %>
        #     <% end %>
        #
        # @param url [String]
        # @param model [Object, nil] its values fill the fields, and its class names them: `post[title]`
        # @param scope [String, Symbol, nil] names the fields instead of the model's class
        # @param method [Symbol, nil] nil: PATCH for a model that is stored, otherwise POST
        # @param multipart [Boolean] for files
        # @yieldparam form [Form]
        # Objects that belong to the model have their fields by {Form::Nested#fields_for}.
        def form_with(url:, model: nil, scope: nil, method: nil, multipart: false, **attributes)
          method ||= (model.respond_to?(:persisted?) && model.persisted?) ? :patch : :post
          method = method.to_s.downcase
          hidden = []
          hidden << tag(:input, type: "hidden", name: "_method", value: method) unless %w[get post].include?(method)
          hidden << csrf_field unless method == "get"
          fields = capture(Form.new(self, model, scope)) { |form| yield form }
          tag(:form, safe_join([*hidden, fields]), action: url, method: (method == "get") ? "get" : "post", enctype: ("multipart/form-data" if multipart), **attributes)
        end

        # The hidden field with the token against requests from other sites; empty where the client needs none. The token is not compressed
        # together with the rest of the page, where the page's length could tell it.
        def csrf_field
          field = controller.respond_to?(:csrf_field) ? controller.csrf_field : ""
          field.empty? ? raw(field) : _insert_token(field)
        end
      end
    end
  end
end
