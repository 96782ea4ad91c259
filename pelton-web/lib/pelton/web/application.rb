# frozen_string_literal: true

module Pelton
  module Web
    # An application: settings and routes. The class itself is a Rack application.
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
    # The first request boots it, unless {boot!} was called before: settings are frozen, routes and actions compiled,
    # and the middleware in {LAYERS} that the settings ask for is put around the router.
    class Application
      # The framework's own middleware, outermost first. Each is the name of a constant in {Web}, a class with
      # `wrap(app, settings)`, which returns a Rack application: `app` itself if the settings do not ask for the layer,
      # so unused layers cost nothing.
      LAYERS = %i[Proxies RequestId SecurityHeaders ErrorPage SlowPage Hosts Static BodyLimit Deadline].freeze

      class << self
        # @return [Settings] a subclass starts with its parent's
        def settings = @settings ||= (self == Application) ? Settings.new : superclass.settings.dup

        # Declares routes: see {Routes}. May be called several times.
        #
        # @raise [ConfigurationError] if the application has booted
        def routes(&block)
          @routes ||= Routes.new
          raise ConfigurationError, "#{self}: the routes are declared before the first request" if block && booted?
          @routes.instance_exec(&block) if block
          @routes
        end

        # Adds Rack middleware around the routes, inside the framework's own. The first is the outermost.
        def use(middleware, *arguments, **options, &block)
          stack << ->(app) { middleware.new(app, *arguments, **options, &block) }
          nil
        end

        # Rack's interface.
        #
        # @return [Array] Rack's response
        # @asynchronous if an action waits
        def call(env) = (@app || boot!).call(env)

        # Freezes the settings, compiles routes and actions, and adds the middleware. Call it at start to find mistakes
        # before the first request does.
        #
        # @return [#call] the compiled application, a Rack application
        # @raise [ConfigurationError] if a setting, a route or a controller is wrong
        def boot!
          return @app if @app
          loading = Loading.new(self).load
          settings.freeze
          if settings.development?
            @reloading = Reloading.new(loading) { compile.tap { @on_reload&.call if @reloading } }
          end
          @app = LAYERS.reverse.inject(@reloading || compile) do |inner, name|
            Web.const_get(name).wrap(inner, settings)
          end
        end

        # @return [Routes::Urls] the paths and URLs of named routes
        def urls = @urls ||= Routes::Urls.new(routes.list, base: settings.base_url)

        def booted? = !!@app

        # Reloads the program's files if one has changed, in development.
        def _reload = @reloading ? @reloading.refresh : false

        # Calls the block after each reload.
        def _on_reload(&block) = @on_reload = block

        # Declares the routes again, by a file that calls {routes}.
        def _draw_routes(file)
          if !@app && @routes&.list&.any?
            raise ConfigurationError, "#{self}: routes are declared before #{file} is loaded: move them there"
          end
          before, @app, @routes, @urls = @app, nil, nil, nil
          load(file)
        ensure
          @app = before
        end

        # @private
        # @return [Routes::Router] the compiled routes
        def router
          @router ||= Routes::Router.new(routes.list.map { |route| [route, route.guard(endpoint(route))] },
            routes.mounts, settings)
        end

        private

        def stack = @stack ||= []

        def compile
          @blocks = @router = nil
          app = stack.reverse.inject(router) { |inner, layer| layer.call(inner) }
          return app unless foreign?
          app = RackSession.new(app, settings) if settings.secrets.any?
          Deferral.new(app)
        end

        # Whether requests may reach plain Rack code.
        def foreign?
          stack.any? || routes.mounts.any? ||
            routes.list.any? { |route| route.target.respond_to?(:call) && !route.target.is_a?(Routes::Redirection) }
        end

        # @return [#call] takes the env and the path's variables
        def endpoint(route)
          case target = route.target
          when String then Controller.named(target).then do |controller, action|
            action_endpoint(controller, action, route)
          end
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

        # The controller whose actions are the blocks of routes.
        def blocks = @blocks ||= Class.new(settings.block_controller) { extend Controller::Blocks }
      end
    end
  end
end
