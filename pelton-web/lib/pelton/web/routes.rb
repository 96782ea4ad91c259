# frozen_string_literal: true

require_relative "routes/pattern"
require_relative "routes/segments"
require_relative "routes/route"
require_relative "routes/verbs"
require_relative "routes/form_verb"
require_relative "routes/tree"
require_relative "routes/mount"
require_relative "routes/path_writer"
require_relative "routes/redirection"
require_relative "routes/scope"
require_relative "routes/words"
require_relative "routes/resources"
require_relative "routes/urls"
require_relative "routes/router"

module Pelton
  module Web
    # The routes that `routes do ... end` declares, from which {Router} is built at boot.
    #
    #     routes do
    #       root to: "home#index"
    #       get "/posts/:id(.:format)", to: "posts#show", as: :post, constraints: {id: /\d+/}
    #       get("/hello") { "hello" }
    #       resources :posts, only: %i[index show]
    #       scope("/admin", module: "admin") { get "/log", to: "log#index" }
    #       redirect "/old/:id", to: "/new/:id"
    #       mount OtherApplication, at: "/api"
    #     end
    #
    # The most specific matching route wins. Routes are compared segment by segment: a literal comes before a variable
    # with a constraint or adjacent text, that before a plain variable, that before a splat with a constraint or
    # adjacent text, and a plain splat comes last. Then endings are compared: a literal with the ending, a format with a
    # constraint, any format, and no format. Among equals a route for the request's verb comes before `via: :all`, and
    # then the first one declared wins.
    class Routes
      include Resources

      # @return [Array<Route>] in order of declaration
      attr_reader :list
      attr_reader :mounts

      def initialize
        @list = []
        @mounts = []
        @scope = Scope.new
      end

      # @!method get(path, to: nil, as: nil, constraints: {}, &block)
      # Routes requests with this verb and a matching path to an action. `post`, `put`, `patch`, `delete` and `options`
      # do the same for their verbs. GET also answers HEAD.
      #   @param path [String] see {Pattern}
      #   @param to [String, #call] "posts#show", or a Rack application. Without it the block is the action; the String
      #     it returns is sent as plain text
      #   @param as [Symbol, nil] the name for `NAME_path` and `NAME_url`
      #   @param constraints [Hash, #call] patterns that match variables as a whole; or a block that gets the {Request}
      #     and returns whether the route is for it
      #   @return [nil]
      #   @raise [ConfigurationError] if the path, the target or a constraint is malformed
      %w[get post put patch delete options].each do |verb|
        define_method(verb) { |path, **options, &block| match(path, via: verb, **options, &block) }
      end

      # Like {#get}, for several verbs.
      #
      # @param via [Symbol, Array<Symbol>] `:all` for all verbs without another route at this path
      def match(path, via:, to: nil, as: nil, constraints: {}, on: nil, &block)
        if path.is_a?(Symbol)
          return match_action(path, via: via, on: on, **{to: to, as: as}.compact, constraints: constraints, &block)
        end
        target = @scope.target(to || (block && Route::Action.new(block)) || raise(ConfigurationError,
          "#{path}: give to: or a block"))
        place = (constraints == {}) ? @scope : @scope.inside(constraints: constraints)
        pattern = Pattern.new(place.path_of(path), constraints: place.constraints)
        Array(via).each_with_index do |verb, index|
          verb = (verb == :all) ? nil : verb.to_s.upcase
          add Route.new(verb, pattern, target, name: (@scope.name_of(as) if as && index.zero?), guards: place.guards)
        end
        nil
      end

      # Routes "/", under the name root.
      def root(to: nil, &block) = get("/", to: to, as: :root, &block)

      # Routes below a path.
      #
      # @param path [String, nil] "/admin"
      # @param options [Hash] `module:` the controllers' module ("admin"), `as:` a prefix of the names, `constraints:`
      #   as for {#get}
      def scope(path = nil, **options, &block)
        outer = @scope
        @scope = outer.inside(path, **options)
        instance_exec(&block)
        nil
      ensure
        @scope = outer
      end

      # A scope with this path, module and name prefix.
      def namespace(name, **options, &block) = scope("/#{name}", module: name.to_s, as: name, **options, &block)

      # Redirects GET and HEAD to another path of this host, with the query string, or to a URL.
      #
      # @param path [String] see {Pattern}
      # @param to [String] a path, which may contain the variables of `path`, or a URL without variables
      # @param status [Integer] browsers remember 301
      # @raise [ConfigurationError]
      def redirect(path, to:, status: 301, **options)
        get(path, to: Redirection.new(@scope.path_of(path), to, status), **options)
      end

      # Passes requests below a path that match no route to a Rack application.
      #
      # @param app [#call]
      # @param at [String] "/" for all requests that match nothing else
      # @raise [ConfigurationError]
      def mount(app, at:)
        @mounts << Mount.new(app, @scope.path_of(at))
        nil
      end

      private

      def add(route)
        if route.name && list.any? { |other| other.name == route.name && other.pattern.path != route.pattern.path }
          raise ConfigurationError, "the route #{route.pattern}: another route has the name #{route.name} already"
        end
        @list << route
      end
    end
  end
end
