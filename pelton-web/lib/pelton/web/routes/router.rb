# frozen_string_literal: true

module Pelton
  module Web
    class Routes
      # The compiled routes: a Rack application that finds the route of a request and calls its endpoint. A path without variables is found
      # by one look into a Hash, all others by a {Tree}; a path that ends in ".json" first among the routes that take a format. Mounted
      # applications come last. What is not there is answered with 404, what is there for other verbs with 405, and OPTIONS with `Allow`.
      class Router
        NONE = {}.freeze
        private_constant :NONE

        # @param routes [Array<Array(Route, #call)>] each with its endpoint: see {Verbs#add}
        # @param mounts [Array<Mount>]
        # @param settings [Settings, nil] the application's
        def initialize(routes, mounts = [], settings = nil)
          @static = {}
          @tree = Tree.new(settings)
          @formats = Tree.new(settings, format: true)
          @mounts = mounts.sort_by { |mount| -mount.path.size }
          routes.each { |route, endpoint| add(route, endpoint) }
          [@tree, @formats].each(&:compile)
          @static.transform_values!(&:table)
          @has_formats = !@formats.empty?
        end

        # @param env [Hash]
        # @return [Array] Rack's response
        # @asynchronous where an action waits
        def call(env)
          verb = env["REQUEST_METHOD"]
          if (verbs = @static[env["PATH_INFO"]]) && (endpoint = verbs[verb]) && (answer = endpoint.call(env, NONE))
            return answer
          end
          search(env, verb) || mounted(env) || refuse(env, verb)
        rescue RequestError => error
          Problem.of(error).response(env)
        end

        # @return [String] the code that the routes were compiled to
        def code = "# Paths that end in a format\n#{@formats.code}\n# All paths\n#{@tree.code}"

        private

        def add(route, endpoint)
          pattern = route.pattern
          pattern.variants.each do |variant|
            verbs = (variant.format ? @formats : @tree).add(variant, pattern.constraints)
            verbs.add(route.verb, endpoint)
            @static["/#{variant.segments.join("/")}"] ||= verbs if !variant.format && variant.segments.all?(String)
          end
        end

        def search(env, verb, matching = nil)
          path = env["PATH_INFO"]
          segments = Segments.of(path.empty? ? "/" : path)
          if @has_formats && (dot = segments.last.rindex(".")) && dot.positive?
            last = segments.last
            segments[-1] = last[0, dot]
            answer = @formats.find(segments, last[dot + 1..], verb, env, matching)
            return answer if answer
            segments[-1] = last
          end
          @tree.find(segments, nil, verb, env, matching)
        end

        def mounted(env)
          path = env["PATH_INFO"]
          @mounts.find { |mount| mount.takes?(path) }&.call(env)
        end

        def refuse(env, verb)
          matching = []
          search(env, nil, matching)
          allowed = matching.flat_map(&:allowed).uniq
          return Problem.of(NotFound.new).response(env) if allowed.empty? || allowed.include?(verb)
          allow = {"allow" => (allowed | ["OPTIONS"]).join(", ")}
          return [204, allow, []] if verb == "OPTIONS"
          Problem.new(405, detail: "This address takes #{allow["allow"]}.", headers: allow).response(env)
        end
      end
    end
  end
end
