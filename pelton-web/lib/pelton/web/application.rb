# frozen_string_literal: true

module Pelton
  module Web
    # An application: settings and routes. The class is itself a Rack application.
    #
    #     class Shop < Pelton::Web::Application
    #       settings.root = __dir__
    #       routes do
    #         root to: "home#index"
    #         get("/hello") { "hello" }
    #       end
    #     end
    #     run Shop
    #
    # The first request boots it, unless {boot!} was called before: the settings are frozen, the routes and actions compiled. The
    # middleware in {LAYERS} is put around the router where the settings ask for it.
    class Application
      # The framework's own middleware, from the outside in. Each is the name of a constant of {Web}, a class with
      # `wrap(app, settings)`, which returns a Rack application: `app` itself where the settings do not ask for the layer. So what is not
      # used costs nothing.
      LAYERS = %i[Proxies RequestId SecurityHeaders ErrorPage SlowPage Hosts Static BodyLimit Deadline].freeze

      class << self
        # @return [Settings] a subclass begins with those of its parent
        def settings = @settings ||= (self == Application) ? Settings.new : superclass.settings.dup

        # Declares routes: see {Routes}. May be called more than once.
        #
        # @raise [ConfigurationError] the application has booted
        def routes(&block)
          @routes ||= Routes.new
          raise ConfigurationError, "#{self}: the routes are declared before the first request" if block && booted?
          @routes.instance_exec(&block) if block
          @routes
        end

        # Puts Rack middleware around the routes, inside the framework's own. The first is the outermost.
        def use(middleware, *arguments, **options, &block)
          stack << ->(app) { middleware.new(app, *arguments, **options, &block) }
          nil
        end

        # Rack's entry.
        #
        # @return [Array] Rack's response
        # @asynchronous where an action waits
        def call(env) = (@app || boot!).call(env)

        # Freezes the settings, compiles the routes and their actions, and puts the middleware around them. Calling it when the program
        # starts shows mistakes before the first request does.
        #
        # @return [#call] the compiled application, a Rack application
        # @raise [ConfigurationError] a setting, a route or a controller is wrong
        def boot!
          return @app if @app
          loading = Loading.new(self).load
          warn_of_secrets
          settings.freeze
          @reloading = Reloading.new(loading) { compile } if settings.development?
          @app = LAYERS.reverse.inject(@reloading || compile) { |inner, name| Web.const_get(name).wrap(inner, settings) }
        end

        # @return [Routes::Urls] the addresses of the routes with names
        def urls = @urls ||= Routes::Urls.new(routes.list, base: settings.base_url)

        def booted? = !!@app

        # Loads the program's files again if one has changed, in development.
        def _reload = @reloading ? @reloading.refresh : false

        # Declares the routes anew, by a file that calls {routes}.
        def _draw_routes(file)
          raise ConfigurationError, "#{self}: routes are declared before #{file} is loaded: move them there" if !@app && @routes&.list&.any?
          before, @app, @routes, @urls = @app, nil, nil, nil
          load(file)
        ensure
          @app = before
        end

        # @private
        # @return [Routes::Router] the compiled routes
        def router = @router ||= Routes::Router.new(routes.list.map { |route| [route, route.guard(endpoint(route))] }, routes.mounts, settings)

        private

        def stack = @stack ||= []

        # The first session would be the first to say it.
        def warn_of_secrets
          return if settings.secrets.any?
          Pelton.logger&.warn("#{self}: there are no secrets, so sessions, flash and signed cookies raise errors: set SECRET_KEY_BASE, or settings.secrets")
        end

        def compile
          @blocks = @router = nil
          app = stack.reverse.inject(router) { |inner, layer| layer.call(inner) }
          return app unless foreign?
          app = RackSession.new(app, settings) if settings.secrets.any?
          Deferral.new(app)
        end

        # Whether requests may reach code that is written for Rack, not for this framework.
        def foreign? = stack.any? || routes.mounts.any? || routes.list.any? { |route| route.target.respond_to?(:call) && !route.target.is_a?(Routes::Redirection) }

        # @return [#call] takes the env and the values of the path's variables
        def endpoint(route)
          case target = route.target
          when String then Controller.named(target).then { |controller, action| action_endpoint(controller, action, route) }
          when Routes::Route::Action then action_endpoint(blocks, blocks.add(target.block), route)
          when Routes::Redirection then target
          else
            lambda do |env, _captures|
              env["pelton.web.route"] = route
              target.call(env)
            end
          end
        end

        def action_endpoint(controller, action, route)
          controller.include(urls)
          controller.endpoint(action, settings, route)
        end

        # The controller whose actions are the routes' blocks.
        def blocks = @blocks ||= Class.new(settings.block_controller) { extend Controller::Blocks }
      end
    end
  end
end
