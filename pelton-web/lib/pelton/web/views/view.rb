# frozen_string_literal: true

require_relative "../fragments"
require_relative "html"
require_relative "helpers"
require_relative "../fragments/pieces"

module Pelton
  module Web
    # The context of a template: the controller's instance variables and the helpers. Created for each page.
    class View
      include Opaque

      include Helpers

      NO_LOCALS = {}.freeze
      private_constant :NO_LOCALS

      # Raised through {Fragments#fetch} with a private text, so that it is not kept.
      class Own < StandardError
        attr_reader :view, :text

        def initialize(view, text)
          @view = view
          @text = text
          super("the text has a form's token, or a policy's nonce")
        end
      end
      private_constant :Own

      class << self
        # @private
        attr_accessor :_templates
      end

      # @private
      def initialize(controller = nil, format: "html", prefix: nil)
        @_controller = controller
        @_format = format
        @_prefix = prefix
        @_contents = nil
        @_out = nil
        @_stream = nil
        @_pieces = nil
        @_token = nil
        @_cached = false
      end

      # @return [Controller, nil] nil when rendering without a request
      def controller = @_controller

      # @!method request
      #   @return [Request]
      # @!method params
      #   @return [Params]
      # @!method settings
      #   @return [Settings]
      %i[request params settings session cookies flash].each do |name|
        define_method(name) { @_controller.__send__(name) }
      end

      # @private The prefix of named routes' paths and URLs.
      def url_prefix = @_controller&.url_prefix.to_s

      # @private
      def url_base = (@_controller || self.class.ancestors.find { |one| one.is_a?(Routes::Urls) }).url_base

      # Renders a partial, whose file name begins with an underscore: `render "comment", comment: comment` is
      # `_comment.html.erb` in the controller's folder, `render "shared/menu"` is `shared/_menu.html.erb`.
      #
      # @overload render(name, **locals)
      # @overload render(partial:, locals: {}, collection: nil, as: nil)
      #   @param collection [Enumerable] renders the partial for each element, which is its local `as` (by default the
      #     partial's name); `NAME_counter` counts from 0
      # @overload render(object)
      #   @param object [#to_partial_path, Enumerable] names its partial
      # @return [HTML] empty for an empty collection
      # @raise [MissingTemplate]
      # @asynchronous if the partial waits
      def render(what = nil, partial: nil, locals: NO_LOCALS, collection: nil, as: nil, **more)
        return render_partial(what, more.merge(locals)) if what.is_a?(String)
        return render_collection(partial, collection, as, locals) if partial && collection
        return render_partial(partial, locals) if partial
        return render_objects(what, locals) if what.respond_to?(:each) && !what.respond_to?(:to_partial_path)
        render_objects([what], locals)
      end

      # @return [HTML] the block's output, instead of inserting it
      def capture(*arguments)
        value = nil
        written = _collect { value = yield(*arguments) }
        (written.empty? && value.is_a?(String)) ? HTML.new(HTML.escape(value)) : written
      end

      # Stores a part of the page for the layout, which inserts it by `yield :name`:
      # `<% content_for :title, "Posts" %>`, or with a block. Further calls append. Without a value, returns the stored
      # part.
      #
      # @raise [ConfigurationError] inside {#cache}, which would not call it again
      def content_for(name, value = nil, &block)
        return @_contents&.[](name) unless value || block
        if @_cached
          raise ConfigurationError,
            "content_for #{name.inspect} within cache would be lost with the next page: call it outside the block"
        end
        value = HTML.new(HTML.escape(block ? capture(&block) : value))
        contents = (@_contents ||= {})
        contents[name] = contents.key?(name) ? contents[name] + value : value
        nil
      end

      # @return [Boolean] whether there is a part of that name
      def content_for?(name) = @_contents&.key?(name) || false

      # Keeps the block's output, compressed, until the key changes. Each place in the templates has its own entry,
      # which changes with the templates.
      #
      #     <% cache [post, post.updated_at] do %> ... <% end %>
      #
      # The output must not be changed afterwards, for example by a helper around it, and the block must have no other
      # effect, such as {#content_for}. A block with a CSRF token or a nonce is not kept, because both are for one
      # client only.
      #
      # @param key [Object] see {Fragments#fetch}: must contain everything the block shows, and for whom
      # @param ttl [Numeric, nil] seconds after which it is rendered again
      # @raise [ConfigurationError] if the block calls {#content_for}
      # @raise the block's error
      # @asynchronous if the block waits, if another request renders the same, and with memcached
      def cache(key, ttl: nil, &block)
        store = @_controller&.settings&.fragments
        return @_out << capture_cached(&block) && nil unless store
        key = [self.class._templates.digest, *block.source_location, _token?, key]
        _insert(ttl ? store.fetch(key, ttl: ttl) { fresh(&block) } : store.fetch(key) { fresh(&block) })
        nil
      rescue Own => error # fibers that waited for the same fragment get it, too
        @_out << (error.view.equal?(self) ? error.text : capture_cached(&block))
        nil
      end

      # Sends what the page's template has written so far, if the page is streamed (`render stream: true`). Does nothing
      # otherwise, nor inside a partial or a captured block.
      #
      # @raise [ClosedError] if the client has left
      # @asynchronous
      def flush
        return unless @_stream && @_out.equal?(@_streamed) && !@_out.empty?
        @_stream.write(@_out.dup)
        @_out.clear
        nil
      end

      def _collect
        outer = @_out
        @_out = text = +""
        yield
        HTML.new(text)
      ensure
        @_out = outer
      end

      # Adds a fragment to the page.
      def _insert(fragment) = @_out << (@_stream ? fragment.text : (@_pieces ||= Pieces.new).mark(fragment))

      # Whether this client's forms have a token: such clients have separate fragments.
      def _token?
        return @_token unless @_token.nil?
        @_token = @_controller.respond_to?(:csrf_field) && !Forgery.known_by_headers?(@_controller.env)
      end

      # Inserts a form's token, uncompressed and never in a fragment.
      def _insert_token(field)
        HTML.new(@_stream ? field : (@_pieces ||= Pieces.new).mark(HTTP::Fragment.secret(field)))
      end

      # The text with its fragments inserted.
      def _text(text) = @_pieces ? HTML.new(@_pieces.text(text)) : text

      # The page for sending in pieces.
      def _pieces(text) = @_pieces ? @_pieces.page(text) : HTTP::Page.new << text

      # Renders the template, then the layout around it.
      def _page(template, layout, locals)
        content = template.render(self, locals)
        return content unless layout
        layout.render(self, NO_LOCALS) { |name = nil| name ? content_for(name) : content }
      end

      # Writes the page in order: the layout up to its `yield`, which is sent at once, then the template.
      def _stream(template, layout, locals, stream)
        @_stream = stream
        @_out = @_streamed = +""
        if layout
          layout.append(self, NO_LOCALS) do |name = nil|
            next content_for(name) if name
            flush
            template.append(self, locals)
            EMPTY
          end
        else
          template.append(self, locals)
        end
        flush
      ensure
        @_stream = nil
      end

      # Template expressions with a block are assigned to this.
      def _escaped=(value)
        @_out << HTML.escape(value)
      end

      def _appended=(value)
        @_out << value.to_s
      end

      EMPTY = HTML.new("")
      private_constant :EMPTY

      private

      def capture_cached(&block)
        outer, @_cached = @_cached, true
        capture(&block)
      ensure
        @_cached = outer
      end

      # A fragment's text, unless it contains a token or this request's nonce.
      def fresh(&block)
        tokens = tokens_of_controller
        text = capture_cached(&block)
        if tokens_of_controller != tokens || (nonce = @_controller.env[SecurityHeaders::NONCE]) && text.include?(nonce)
          raise Own.new(self, text)
        end
        _text(text)
      end

      def tokens_of_controller = @_controller.respond_to?(:_tokens) ? @_controller._tokens : 0

      # Methods that the controller shares by `helper_method`.
      def method_missing(name, ...)
        @_controller&.class&.helper_methods&.include?(name) ? @_controller.__send__(name, ...) : super
      end

      def respond_to_missing?(name, include_private = false)
        @_controller&.class&.helper_methods&.include?(name) || super
      end

      def render_partial(name, locals) = partial(name).render(self, locals)

      # One method, called in a loop into a single output.
      def render_collection(name, collection, as, locals)
        partial = partial(name)
        as ||= partial.local
        counter = :"#{as}_counter"
        locals = locals.merge(as => nil, counter => nil)
        _collect do
          collection.each_with_index { |one, index| partial.append(self, locals.merge!(as => one, counter => index)) }
        end
      end

      def render_objects(objects, locals)
        _collect do
          objects.each do |object|
            path = path_of(object)
            partial(path).append(self, locals.merge(local_of(path) => object))
          end
        end
      end

      def path_of(object)
        return object.to_partial_path if object.respond_to?(:to_partial_path)
        raise ArgumentError,
          "#{object.class} has no to_partial_path: name the partial, render(partial: \"post\", locals: {post: post})"
      end

      def local_of(path) = path[%r{\w+\z}].to_sym

      def partial(name) = self.class._templates._partial(name, @_prefix, @_format)
    end
  end
end
