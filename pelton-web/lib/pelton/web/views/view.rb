# frozen_string_literal: true

require_relative "../fragments"
require_relative "html"
require_relative "helpers"
require_relative "../fragments/pieces"

module Pelton
  module Web
    # What a template is evaluated in: the controller's instance variables, and the helpers. Made for each page.
    class View
      include Opaque

      include Helpers

      NO_LOCALS = {}.freeze
      private_constant :NO_LOCALS

      # Leaves {Fragments#fetch} with a text that is one client's own, so that nothing is kept.
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

      # @return [Controller, nil] nil: it is rendered without a request
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

      # @private What the methods of named routes put before paths and URLs.
      def url_prefix = @_controller&.url_prefix.to_s

      # @private
      def url_base = (@_controller || self.class.ancestors.find { |one| one.is_a?(Routes::Urls) }).url_base

      # Renders a partial, whose file's name begins with an underscore: `render "comment", comment: comment` is `_comment.html.erb` in the
      # folder of the controller's templates, `render "shared/menu"` is `shared/_menu.html.erb`.
      #
      # @overload render(name, **locals)
      # @overload render(partial:, locals: {}, collection: nil, as: nil)
      #   @param collection [Enumerable] the partial is rendered for each, which is its local `as` (by default named as the partial), and
      #     `NAME_counter` counts from 0
      # @overload render(object)
      #   @param object [#to_partial_path, Enumerable] which partial it is, the object says
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

      # @return [HTML] what the block writes, instead of writing it here
      def capture(*arguments)
        value = nil
        written = _collect { value = yield(*arguments) }
        (written.empty? && value.is_a?(String)) ? HTML.new(HTML.escape(value)) : written
      end

      # Keeps a part of the page for the layout, which takes it by `yield :name`: `<% content_for :title, "Posts" %>`, or with a block. More
      # of the same name is appended. Without a value, returns what was kept.
      #
      # @raise [ConfigurationError] within {#cache}, which would not call it again
      def content_for(name, value = nil, &block)
        return @_contents&.[](name) unless value || block
        raise ConfigurationError, "content_for #{name.inspect} within cache would be lost with the next page: call it outside the block" if @_cached
        value = HTML.new(HTML.escape(block ? capture(&block) : value))
        contents = (@_contents ||= {})
        contents[name] = contents.key?(name) ? contents[name] + value : value
        nil
      end

      # @return [Boolean] whether a part of that name was kept
      def content_for?(name) = @_contents&.key?(name) || false

      # Keeps what the block writes, compressed, until the key changes: the block runs once. It is kept apart for each place in the
      # templates, and anew when a template changes.
      #
      #     <% cache [post, post.updated_at] do %> ... <% end %>
      #
      # The text of the block must not be changed afterwards, as by a helper round it, and the block must not leave anything elsewhere on the
      # page, as {#content_for} does. A block with a form's token or a nonce is not kept: both are one client's own.
      #
      # @param key [Object] see {Fragments#fetch}: what the block shows must follow from it, also for whom
      # @param ttl [Numeric, nil] seconds after which it is rendered anew
      # @raise [ConfigurationError] the block calls {#content_for}
      # @raise the block's error
      # @asynchronous if the block waits, where another request renders the same, and where fragments are in memcached
      def cache(key, ttl: nil, &block)
        store = @_controller&.settings&.fragments
        return @_out << capture_cached(&block) && nil unless store
        key = [self.class._templates.digest, *block.source_location, _token?, key]
        _insert(ttl ? store.fetch(key, ttl: ttl) { fresh(&block) } : store.fetch(key) { fresh(&block) })
        nil
      rescue Own => error # those who waited for the same fragment get it, too
        @_out << (error.view.equal?(self) ? error.text : capture_cached(&block))
        nil
      end

      # In a page that is streamed (`render stream: true`): sends what the page's template has written so far. It does nothing elsewhere, and
      # nothing inside a partial or a block whose text is collected.
      #
      # @raise [ClosedError] the client has left
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

      # Whether this client's forms have a token: fragments for such clients are kept apart.
      def _token?
        return @_token unless @_token.nil?
        @_token = @_controller.respond_to?(:csrf_field) && !Forgery.known_by_headers?(@_controller.env)
      end

      # Inserts a form's token: apart from the compression, and in no fragment.
      def _insert_token(field) = HTML.new(@_stream ? field : (@_pieces ||= Pieces.new).mark(HTTP::Fragment.secret(field)))

      # The text with its fragments in their places.
      def _text(text) = @_pieces ? HTML.new(@_pieces.text(text)) : text

      # The same as a page that is sent in pieces.
      def _pieces(text) = @_pieces ? @_pieces.page(text) : HTTP::Page.new << text

      # The page: first its own template, then the layout round it.
      def _page(template, layout, locals)
        content = template.render(self, locals)
        return content unless layout
        layout.render(self, NO_LOCALS) { |name = nil| name ? content_for(name) : content }
      end

      # Writes the page in the order of its text: the layout up to its `yield`, which is sent at once, then the template.
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

      # What a template's expression with a block is assigned to.
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

      # The text of a fragment, unless it has a token or the nonce of this request's policy.
      def fresh(&block)
        tokens = tokens_of_controller
        text = capture_cached(&block)
        raise Own.new(self, text) if tokens_of_controller != tokens || (nonce = @_controller.env[SecurityHeaders::NONCE]) && text.include?(nonce)
        _text(text)
      end

      def tokens_of_controller = @_controller.respond_to?(:_tokens) ? @_controller._tokens : 0

      # The controller's methods that it shares by `helper_method`.
      def method_missing(name, ...)
        @_controller&.class&.helper_methods&.include?(name) ? @_controller.__send__(name, ...) : super
      end

      def respond_to_missing?(name, include_private = false) = @_controller&.class&.helper_methods&.include?(name) || super

      def render_partial(name, locals) = partial(name).render(self, locals)

      # One method, called in a loop, whose text is collected once.
      def render_collection(name, collection, as, locals)
        partial = partial(name)
        as ||= partial.local
        counter = :"#{as}_counter"
        locals = locals.merge(as => nil, counter => nil)
        _collect { collection.each_with_index { |one, index| partial.append(self, locals.merge!(as => one, counter => index)) } }
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
        raise ArgumentError, "#{object.class} has no to_partial_path: name the partial, render(partial: \"post\", locals: {post: post})"
      end

      def local_of(path) = path[%r{\w+\z}].to_sym

      def partial(name) = self.class._templates._partial(name, @_prefix, @_format)
    end
  end
end
