# frozen_string_literal: true

module Pelton
  module Web
    class Routes
      # The compiled routes: a Rack application that finds a request's route and calls its endpoint. A path without
      # variables takes one Hash lookup, all others go through a {Tree}. Mounted applications come last. Unknown paths
      # get 404, unknown verbs of a path 405; OPTIONS gets `Allow`.
      class Router
        NONE = {}.freeze
        # A quick test, before {FormVerb}'s.
        FORM = /form/i
        private_constant :NONE, :FORM

        # @param routes [Array<Array(Route, #call)>] routes and their endpoints: see {Verbs#add}
        # @param mounts [Array<Mount>]
        # @param settings [Settings, nil] the application's
        def initialize(routes, mounts = [], settings = nil)
          @settings = settings
          @static = {}
          @tree = Tree.new
          @mounts = mounts.sort_by { |mount| -mount.path.size }
          routes.each { |route, endpoint| add(route, endpoint) }
          @tree.compile
          @formats = @tree.formats?
          @static.transform_values! { |verbs| verbs.compile.table }
          @forms = routes.any? { |route, _| route.verb.nil? || FormVerb::NAMES.include?(route.verb) }
        end

        # @return [Array] Rack's response
        # @asynchronous if an action waits
        def call(env)
          verb = env["REQUEST_METHOD"]
          return call_form(env) if verb == "POST" && @forms && env["CONTENT_TYPE"]&.match?(FORM)
          if (table = @static[env["PATH_INFO"]]) && (endpoint = table[verb]) && (answer = endpoint.call(env, NONE))
            return answer
          end
          search(env, verb) || mounted(env) || refuse(env, verb)
        rescue RequestError => error
          Problem.of(error).response(env)
        end

        # @return [String] the compiled code
        def code = @tree.code

        private

        def add(route, endpoint)
          pattern = route.pattern
          pattern.variants.each do |variant|
            @tree.add(variant, pattern.constraints, route.verb, endpoint)
            (@static["/#{variant.segments.join("/")}"] ||= Verbs.new).add(route.verb, endpoint) if variant.static?
          end
        end

        def find(env, verb)
          table = @static[env["PATH_INFO"]]
          (table && (endpoint = table[verb]) && endpoint.call(env, NONE)) || search(env, verb)
        end

        def call_form(env)
          verb = FormVerb.of(Request.new(env, @settings)) { places(env) }
          return find(env, "POST") || mounted(env) || refuse(env, "POST") unless verb
          env["rack.methodoverride.original_method"] = "POST"
          env["REQUEST_METHOD"] = verb
          answer = find(env, verb) and return answer
          # A mounted application reads the form itself.
          env["REQUEST_METHOD"] = "POST"
          env.delete("rack.methodoverride.original_method")
          mounted(env) || refuse(env, verb)
        end

        def search(env, verb, matching = nil)
          path = env["PATH_INFO"]
          segments = Segments.of(path.empty? ? "/" : path)
          stem, format = Segments.ending(segments.last) if @formats && segments.last.include?(".")
          @tree.find(segments, stem, format, verb, env, matching)
        end

        def places(env) = [].tap { |matching| search(env, nil, matching) }

        def mounted(env)
          path = env["PATH_INFO"]
          @mounts.find { |mount| mount.takes?(path) }&.call(env)
        end

        def refuse(env, verb)
          allowed = places(env).flat_map(&:allowed).uniq
          return Problem.of(NotFound.new).response(env) if allowed.empty? || allowed.include?(verb)
          allow = {"allow" => (allowed | ["OPTIONS"]).join(", ")}
          return [204, allow, []] if verb == "OPTIONS"
          Problem.new(405, detail: "This address takes #{allow["allow"]}.", headers: allow).response(env)
        end
      end
    end
  end
end
