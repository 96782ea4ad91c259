# frozen_string_literal: true

module Pelton
  module Web
    class Controller
      # Compiles each action to one method that contains its filters, rescues and finishers. `pelton web routes --code`
      # shows it.
      module Actions
        # @return [Array<Array(Symbol, Symbol)>] methods to call after an action, and the instance variables that must
        #   be set
        def finishers = @finishers ||= (self == Controller) ? [] : superclass.finishers.dup

        # See {Controller}.
        #
        # @param name [Symbol] a method
        # @param if [Symbol, nil] an instance variable
        def finish_with(name, if: nil)
          finishers << [name, binding.local_variable_get(:if)]
          nil
        end

        # Compiles an action.
        #
        # @param action [Symbol]
        # @param settings [Settings]
        # @param route [Routes::Route] becomes `env["pelton.web.route"]`, for logs and metrics
        # @return [#call] takes the env and the path's variables; returns Rack's response
        # @raise [ConfigurationError] if there is no such action, or a filter names an unknown one
        def endpoint(action, settings, route)
          unless action_methods.include?(action)
            raise ConfigurationError, "#{self} has no action #{action}: it needs a public method of this name"
          end
          check_filters
          remove_method(:"_run_#{action}") if method_defined?(:"_run_#{action}", false)
          class_eval(code_of(action), "(#{self}##{action}, compiled)", 1)
          class_eval(<<~RUBY, __FILE__, __LINE__ + 1).call(settings, route)
            ->(settings, route) do
              ->(env, captures) do
                env["pelton.web.route"] = route
                new(env, captures, settings)._run_#{action}
              end
            end
          RUBY
        end

        # @return [Array<Symbol>] public methods of Controller's subclasses and the modules they include
        def action_methods
          ancestors.take_while { |one| one != Controller }.reject { |one| one.is_a?(Routes::Urls) }
            .flat_map { |one| one.public_instance_methods(false) }.uniq.grep_v(/\A_run_/)
        end

        # @return [Array(Class, Symbol)] for "posts#show"; "admin/posts#show" is an action of Admin::PostsController
        # @raise [ConfigurationError] if there is no such controller
        def named(target)
          path, action = target.split("#")
          unless action && path.match?(%r{\A\w+(?:/\w+)*\z})
            raise ConfigurationError, "#{target.inspect} names no action: write \"posts#show\""
          end
          name = "#{path.split("/").map { |part| part.split("_").map(&:capitalize).join }.join("::")}Controller"
          controller = find_class(name) || raise(ConfigurationError, "#{target}: there is no class #{name}")
          unless controller.is_a?(Class) && controller < Controller
            raise ConfigurationError, "#{target}: #{name} is no Pelton::Web::Controller"
          end
          [controller, action.to_sym]
        end

        # @return [String] the compiled action's code
        def code_of(action)
          called = "#{call_code(action)}\n#{default_code(action)} unless @response&.answered?"
          <<~RUBY
            def _run_#{action}
              @_action = :#{action}
              begin
            #{filtered(action, called).gsub(/^/, "    ")}
              rescue StandardError => error
                answer_error(error)
              end
            #{finishers.map { |name, variable| "  #{name}#{" if #{variable}" if variable}\n" }.join}  response.finish
            end
          RUBY
        end

        private

        # Errors in the class's own file are raised unchanged.
        def find_class(name)
          name.split("::").inject(Object) { |place, part| place.const_get(part, place == Object) }
        rescue NameError => error
          raise unless name.split("::").include?(error.name.to_s)
        end

        def call_code(action) = action.to_s

        def default_code(action) = "answer_by_default(:#{action})"
      end
    end
  end
end
