# frozen_string_literal: true

require_relative "form"

module Pelton
  module Web
    module Helpers
      # Forms.
      module Forms
        # A form. Methods other than GET and POST are sent as `_method`. Includes a token against forged requests if the
        # client needs one.
        #
        #     <%= form_with(model: @post, url: "/posts") do |form| %>
        #       <%= form.text_field :title %>
        #       <%= form.submit "Save" %>
        #     <% end %>
        #
        # @param url [String]
        # @param model [Object, nil] fills the fields, and its class names them: `post[title]`
        # @param scope [String, Symbol, nil] names the fields instead
        # @param method [Symbol, nil] by default PATCH for a stored model, otherwise POST
        # @param multipart [Boolean] for files
        # @yieldparam form [Form]
        # Use {Form::Nested#fields_for} for associated objects.
        def form_with(url:, model: nil, scope: nil, method: nil, multipart: false, **attributes)
          method ||= Form._stored?(model) ? :patch : :post
          method = method.to_s.downcase
          hidden = []
          hidden << tag(:input, type: "hidden", name: "_method", value: method) unless %w[get post].include?(method)
          hidden << csrf_field unless method == "get"
          fields = capture(Form.new(self, model, scope)) { |form| yield form }
          tag(:form, safe_join([*hidden, fields]), action: url, method: (method == "get") ? "get" : "post",
            enctype: ("multipart/form-data" if multipart), **attributes)
        end

        # The hidden field with a token against forged requests; empty if the client needs none. The token is not
        # compressed with the rest of the page, whose length could reveal it.
        def csrf_field
          field = controller.respond_to?(:csrf_field) ? controller.csrf_field : ""
          field.empty? ? raw(field) : _insert_token(field)
        end
      end
    end
  end
end
