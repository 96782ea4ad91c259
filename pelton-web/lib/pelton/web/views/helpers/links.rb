# frozen_string_literal: true

module Pelton
  module Web
    module Helpers
      # Links and assets.
      module Links
        # @param text [#to_s] the text; with a block, the URL
        # @param url [String] a URL that runs code (`javascript:`, `data:`) becomes "#", because it may come from a user
        # @param attributes [Hash] see {Tags#tag}
        def link_to(text, url = nil, **attributes, &block)
          text, url = capture(&block), text if block
          tag(:a, text, href: url.to_s, **attributes)
        end

        # A form with one button, for requests that change something: robots and browsers follow links in advance.
        #
        # @param method [Symbol] the request's
        def button_to(text, url, method: :post, form: {}, **attributes)
          form_with(url: url, method: method, class: "button_to", **form) do
            tag(:button, text, type: "submit", **attributes)
          end
        end

        # @param source [String] the name of a file, as for {#asset_path}
        # @param alt [String] the text for those who do not see the image
        # @param attributes [Hash] attributes of the element
        # @return [HTML]
        def image_tag(source, alt: "", **attributes) = tag(:img, src: asset_path(source), alt: alt, **attributes)

        # @return [HTML] a link to each style sheet
        def stylesheet_link_tag(*sources, **attributes)
          safe_join(sources.map do |source|
            tag(:link, rel: "stylesheet", href: asset_path(with_extension(source, ".css")), **attributes)
          end,
            "\n")
        end

        # @return [HTML] an element for each script
        def javascript_include_tag(*sources, **attributes)
          safe_join(sources.map { |source| tag(:script, src: asset_path(with_extension(source, ".js")), **attributes) },
            "\n")
        end

        # @param source [String] a file's name; URLs and absolute paths are unchanged
        # @return [String] its path, with a fingerprint if the application serves it
        def asset_path(source)
          return source if source.match?(%r{\A(?:/|[a-z][a-z0-9+.-]*:)}i)
          controller&.settings&.static&.asset_path(source) || "/#{source}"
        end

        private

        def with_extension(source, extension)
          (File.extname(source) == extension || source.include?("//")) ? source : "#{source}#{extension}"
        end
      end
    end
  end
end
