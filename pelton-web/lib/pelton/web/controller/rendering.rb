# frozen_string_literal: true

module Pelton
  module Web
    class Controller
      # `render` for templates. An action that has not responded renders its own: `posts/show` for PostsController#show.
      module Rendering
        # Class methods for layouts and helpers.
        module Declarations
          # Sets the layout of the class's pages: a name, or false for none. The default is `layouts/application`, if it
          # exists.
          def layout(name)
            @layout = (name.is_a?(String) && !name.include?("/")) ? "layouts/#{name}" : name
            nil
          end

          # Makes methods of the controller available in templates.
          def helper_method(*names)
            helper_methods.concat(names)
            nil
          end

          # @return [Array<Symbol>] the controller's methods that its templates may call
          def helper_methods = @helper_methods ||= (self == Controller) ? [] : superclass.helper_methods.dup

          # @return [String] the folder of its templates: "posts" for PostsController, "admin/posts" for
          #   Admin::PostsController, "" for the blocks of routes
          def controller_path
            @controller_path ||= name.to_s.delete_suffix("Controller").gsub("::", "/").gsub(/([a-z\d])([A-Z])/,
              '\1_\2').downcase
          end

          def _layout
            return @layout unless @layout.nil?
            (self == Controller) ? nil : superclass._layout
          end
        end

        # The framework's variables. Templates get all others, unless their names begin with `@_`.
        INTERNAL =
          %i[@env @captures @settings @response @request @params @session @cookies @flash]
            .to_h { |name| [name, true] }.freeze
        NO_LOCALS = {}.freeze
        private_constant :INTERNAL, :NO_LOCALS

        private

        # Responds with a template, by default the action's.
        #
        # @overload render(name = nil, layout: nil, locals: {}, format: nil, status: nil, content_type: nil, stream:
        #   false)
        #   @param name [String, Symbol] "posts/show"; without a folder it is in the controller's `controller_path`
        #   @param layout [String, false] instead of the class's
        #   @param locals [Hash{Symbol => Object}]
        #   @param format [String, Symbol] by default the one that the path asks for (`(.:format)`), or html
        #   @param stream [Boolean] whether parts are sent while later ones wait: see {View#flush}. An error in a part
        #     that is on its way ends the response unfinished
        # @overload render(partial:, locals: {}, collection: nil, as: nil)
        #   A partial, without a layout.
        # @raise [MissingTemplate]
        # @asynchronous if the template waits
        def render(name = nil, layout: nil, locals: NO_LOCALS, format: nil, status: nil, content_type: nil,
          stream: false, partial: nil, collection: nil, as: nil, **rest)
          return super(status: status, content_type: content_type, **rest) if rest.any? && name.nil? && partial.nil?
          raise ArgumentError, "render does not know #{rest.keys.join(", ")}" if rest.any?
          name ||= own_template unless partial
          format = (format || format_of(name)).to_s
          type = content_type || "#{Rack::Mime.mime_type(".#{format}", "text/plain")}; charset=utf-8"
          view = view_for(format)
          if partial
            return answer_in_pieces(view, view.render(partial: partial, locals: locals, collection: collection, as: as),
              type, status)
          end
          template = templates.find(template_name(name), format)
          layout = layout_of(layout, format)
          return stream_page(view, template, layout, locals, type, status) if stream
          answer_in_pieces(view, view._page(template, layout, locals), type, status)
        end

        # Renders a template, by default the action's, without responding: for a mail, or part of a message.
        #
        # @raise [MissingTemplate]
        # @asynchronous if the template waits
        def render_to_string(name = nil, layout: false, locals: NO_LOCALS, format: nil, **partial)
          format = (format || template_format).to_s
          view = view_for(format)
          return view._text(view.render(locals: locals, **partial)) if partial.any?
          view._text(view._page(templates.find(template_name(name || own_template), format), layout_of(layout, format),
            locals))
        end

        def answer_by_default(action)
          return super unless settings.templates&.formats(template_name(action))&.any?
          render(action)
        end

        # The head is sent before it is known whether the page contains a token, a nonce or a message for one client.
        def stream_page(view, template, layout, locals, type, status)
          CacheControl.own(response.headers, nil)
          stream(type: type, status: status) { |out| view._stream(template, layout, locals, out) }
        end

        # Sends the page with its entity tag, compressed if the client accepts gzip; 304 if the client has it.
        def answer_in_pieces(view, text, type, status)
          response.headers["content-type"] ||= type
          status, headers, body = view._pieces(text).response(@env,
            status ? Rack::Utils.status_code(status) : response.status, response.headers)
          answer(body, status: status)
          response.headers.replace(headers)
          nil
        end

        def templates
          settings.templates or
            raise ConfigurationError, "there are no templates: settings.views is #{settings.views}, which is no folder"
        end

        # @raise [ArgumentError] if the action is a route's block, which has no name
        def own_template
          return action_name unless self.class.controller_path.empty?
          raise ArgumentError,
            "the block of a route has no template of its own: give render the name of one, or plain:, html: or json:"
        end

        def template_name(name)
          unless name.is_a?(String) || name.is_a?(Symbol)
            raise ArgumentError, "the name of a template is a String or a Symbol, not #{name.class}"
          end
          name = name.to_s
          folder = self.class.controller_path
          (name.include?("/") || folder.empty?) ? name : "#{folder}/#{name}"
        end

        # The format that the path asks for, if the template exists in it.
        #
        # @raise [NotFound] if the template exists only in other formats
        def format_of(name)
          if name.nil? || !@captures["format"] || templates.exist?(template_name(name), template_format)
            return template_format
          end
          templates.formats(template_name(name)).any? ? raise(NotFound) : template_format
        end

        def template_format
          format = @captures["format"]
          (format.is_a?(String) && !format.empty?) ? format : "html"
        end

        def layout_of(name, format)
          return if name == false
          name = name.nil? ? self.class._layout : name
          return templates.find(name.include?("/") ? name : "layouts/#{name}", format) if name
          templates.find("layouts/application", format) if name.nil? && templates.exist?("layouts/application", format)
        end

        def view_for(format)
          view = templates.view_class.new(self, format: format, prefix: self.class.controller_path)
          instance_variables.each do |name|
            unless INTERNAL.key?(name) || name.start_with?("@_")
              view.instance_variable_set(name, instance_variable_get(name))
            end
          end
          view
        end
      end
    end
  end
end
