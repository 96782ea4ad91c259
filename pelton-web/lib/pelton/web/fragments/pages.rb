# frozen_string_literal: true

require_relative "../fragments"
require_relative "pieces"

module Pelton
  module Web
    class Fragments
      # Rack middleware for applications of other frameworks. A page in which {Helper#fragment} was called is sent in
      # pieces, with an entity tag, and compressed for clients that accept gzip. Other responses are unchanged.
      #
      #     class Shop < Sinatra::Base
      #       use Pelton::Web::Fragments::Pages
      #       helpers Pelton::Web::Fragments::Helper
      #     end
      class Pages
        STORE = "pelton.web.fragments"
        PIECES = "pelton.web.pieces"

        def initialize(app, store = Fragments.default)
          @app = app
          @store = store
        end

        # @asynchronous if the application waits
        def call(env)
          env[STORE] = @store
          status, headers, body = @app.call(env)
          return [status, headers, body] unless (pieces = env[PIECES]) && body.respond_to?(:each)
          headers = headers.reject { |name, _| name.casecmp?("content-length") } # the length with marks
          if env["REQUEST_METHOD"] == "HEAD"
            [status, headers, body]
          else
            pieces.page(text_of(body)).response(env, status, headers)
          end
        end

        private

        def text_of(body)
          text = +""
          body.each { |part| text << part }
          text
        ensure
          body.close if body.respond_to?(:close)
        end
      end

      # For the application's templates and routes. Needs a method `env`.
      module Helper
        # Keeps the block's value, compressed, until the key changes. The value is HTML and must be the same for all
        # users: no CSRF token.
        #
        #     <%= fragment(["post", post.id, post.updated_at]) { partial("post", locals: {post: post}) } %>
        #
        # @param key [Object] see {Key}
        # @param ttl [Numeric, nil] seconds after which it is rendered again
        # @yieldreturn [String]
        # @return [String] a mark for the fragment in the page's text, which survives escaping
        # @raise (see Fragments#fetch)
        # @asynchronous if the block waits
        def fragment(key, ttl: nil)
          pieces = env[Pages::PIECES] ||= Pieces.new
          store = env.fetch(Pages::STORE) do
            raise ConfigurationError,
              "fragment needs the middleware Pelton::Web::Fragments::Pages: use it in the application"
          end
          render = -> { pieces.text(yield.to_s) }
          pieces.mark(ttl ? store.fetch(key, ttl: ttl, &render) : store.fetch(key, &render))
        end
      end
    end
  end
end
