# frozen_string_literal: true

module Pelton
  module Web
    module Generators
      # `pelton generate controller`: a controller with its actions, their templates and routes, and a test.
      # @private
      class Controller < Generator
        SUMMARY = "a controller with its actions, their templates and routes, and a test"
        USAGE = <<~TEXT
          usage: pelton generate controller NAME [ACTION ...] [options]

          Writes app/controllers/NAME_controller.rb, app/views/NAME/ACTION.html.erb, test/controllers/NAME_controller_test.rb, and lines into
          config/routes.rb. For example:

            pelton generate controller posts index show new create
            pelton generate controller admin/reports index yearly
            pelton generate controller home index about

          Of a name in the plural, the actions index, show, new, create, edit, update and destroy are resources. Others answer GET.

        TEXT
        ARGUMENTS = (1..)
        # The actions of resources, and those of them that have a page.
        REST = %w[index show new edit create update destroy].freeze
        PAGES = %w[index show new edit].freeze
        ROUTES = "config/routes.rb"
        private_constant :REST, :PAGES, :ROUTES

        # (see Generator.options)
        def self.options(parser, options)
          parser.on("--no-routes", "without lines in #{ROUTES}") { options[:routes] = false }
        end

        def initialize(files, name, *actions, routes: true)
          super(files)
          @name = Name.new(name.sub(/_?controller\z/i, ""), "controller")
          @actions = actions.uniq
          check_actions(@actions, ApplicationMethods, "controllers")
          check_constant("#{@name.constant}Controller", path)
          @routes = routes
        end

        def write
          write_template("controller/controller.rb", path)
          @actions.select { |action| page?(action) }.each do |action|
            @action = action
            write_template("controller/view.html.erb", "app/views/#{@name.path}/#{action}.html.erb")
          end
          write_template("controller/test.rb", "test/controllers/#{@name.path}_controller_test.rb") if @routes
          add_routes if @routes && @actions.any?
        end

        # Which names of actions are methods of the framework's controller.
        module ApplicationMethods
          def self.include?(action)
            require_relative "../../web"
            Web::Controller.method_defined?(action) || Web::Controller.private_method_defined?(action)
          end
        end
        private_constant :ApplicationMethods

        private

        attr_reader :name, :actions, :action

        def path = "app/controllers/#{@name.path}_controller.rb"

        def page?(action) = !REST.include?(action) || PAGES.include?(action)

        def resources? = @name.plural?

        def rest = resources? ? @actions & REST : []

        # An action of a list that has a page of its own, else a small answer.
        def method_of(action)
          return "def #{action}\nend\n" if page?(action)
          "def #{action}\n  #{(redirects? && @routes) ? "redirect_to #{list_path}" : "head 204"}\nend\n"
        end

        def body = @actions.map { |action| method_of(action) }.join("\n")

        def list_path = "#{[*@name.namespaces, @name.last].join("_")}_path"

        def add_routes
          inner = route_lines
          lines = @name.namespaces.reverse.inject(inner) do |text, part|
            "namespace(:#{part}) do\n#{text.gsub(/^/, "  ")}end\n"
          end
          @files.insert(ROUTES, lines.gsub(/^/, "  "), after: /^[ \t]*#{application}\.routes do[ \t]*\n/)
        end

        # The actions of a resource, then all others, whose paths are below the list's.
        def route_lines
          others = @actions - rest
          if rest.empty?
            return others.map { |action| "get \"#{own_path(action)}\", to: \"#{@name.last}##{action}\"\n" }.join
          end
          head =
            "resources :#{@name.last}#{", only: [#{rest.map { |one| ":#{one}" }.join(", ")}]" if rest.size < REST.size}"
          return "#{head}\n" if others.empty?
          "#{head} do\n#{others.map { |action| "  get :#{action}, on: :collection\n" }.join}end\n"
        end

        def own_path(action, base = "/#{@name.last}") = (action == "index") ? base : "#{base}/#{action}"

        # For the test: action, verb, path, and whether a page is expected.
        def requests
          @actions.map do |action|
            base = "/#{@name.path}"
            [action, verb(action), rest.include?(action) ? rest_path(action, base) : own_path(action, base),
              page?(action)]
          end
        end

        def rest_path(action, base)
          {"index" => base, "create" => base, "new" => "#{base}/new",
           "edit" => "#{base}/1/edit"}.fetch(action) { "#{base}/1" }
        end

        def verb(action)
          (rest.include?(action) && {"create" => "post", "update" => "patch", "destroy" => "delete"}[action]) || "get"
        end

        def redirects? = rest.include?("index")

        def title = "#{@name.human} #{@action.tr("_", " ")}"
      end
    end
  end
end
