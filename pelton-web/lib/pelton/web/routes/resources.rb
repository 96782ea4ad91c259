# frozen_string_literal: true

module Pelton
  module Web
    class Routes
      # `resources` and `resource`: the usual routes of a controller that lists, shows, creates, changes and deletes
      # records.
      module Resources
        # The paths and names for all records (`collection`) and for one (`member`), the path of nested routes, and the
        # surrounding scope.
        Resource = Struct.new(:controller, :collection, :member, :nested, :plural, :singular, :scope)

        # Actions: verbs, path, prefix of the name.
        MANY = {
          index: [:get, :collection, "", :plural], create: [:post, :collection, "", :plural],
          new: [:get, :collection, "/new", :singular],
          edit: [:get, :member, "/edit", :singular], show: [:get, :member, "", :singular],
          update: [%i[patch put], :member, "", :singular],
          destroy: [:delete, :member, "", :singular]
        }.freeze
        ONE = MANY.except(:index).freeze
        private_constant :MANY, :ONE

        # Declares the routes of a list: index, new, create, show, edit, update and destroy. Routes in the block are
        # nested below a record.
        #
        # @param names [Array<Symbol>] plurals
        # @param only [Array<Symbol>, Symbol, nil] the actions to route
        # @param except [Array<Symbol>, Symbol] the actions not to route
        # @param path [String, nil] by default the name
        # @param controller [String, nil] by default the name
        # @param as [Symbol, nil] the plural used in route names; by default the name
        # @param param [Symbol] the variable's name
        # @param constraints [Hash{Symbol => Regexp}, #call]
        # @raise [ConfigurationError] if there is no such action
        def resources(*names, only: nil, except: [], path: nil, controller: nil, as: nil, param: :id, constraints: {},
          &block)
          names.each do |name|
            plural, list = (as || name).to_s, "/#{path || name}"
            singular = Words.singular(plural)
            nested = :"#{Words.singular(name.to_s)}_#{param}"
            draw(Resource.new(controller || name.to_s, list, "#{list}/:#{param}", "#{list}/:#{nested}",
              (plural == singular) ? "#{plural}_index" : plural, singular, @scope),
              chosen(MANY, only, except), constraints)
            unless constraints.respond_to?(:call)
              constraints = constraints.transform_keys { |key| (key == param) ? nested : key }
            end
            inside_one(constraints, &block) if block
          end
          nil
        end

        # Declares the routes of a single record, such as the signed-in user's profile: like {#resources}, without index
        # and without a variable. The controller's name is plural: "profiles".
        #
        # @param names [Array<Symbol>] singulars
        # @raise (see #resources)
        def resource(*names, only: nil, except: [], path: nil, controller: nil, as: nil, constraints: {}, &block)
          names.each do |name|
            place, called = "/#{path || name}", (as || name).to_s
            draw(Resource.new(controller || Words.plural(name.to_s), place, place, place, called, called, @scope),
              chosen(ONE, only, except), constraints)
            inside_one(constraints, &block) if block
          end
          nil
        end

        # Declares routes for one record: `member { post :publish }` is POST /posts/:id/publish, named publish_post.
        def member(&block) = actions_of(:member, :singular, &block)

        # Declares routes for the list: `collection { get :search }` is GET /posts/search, named search_posts.
        def collection(&block) = actions_of(:collection, :plural, &block)

        private

        def chosen(actions, only, except)
          unknown = Array(only) + Array(except) - MANY.keys
          if unknown.any?
            raise ConfigurationError,
              "there is no action #{unknown.join(", ")} among those of resources: #{actions.keys.join(", ")}"
          end
          actions.slice(*(only ? Array(only) : actions.keys - Array(except)))
        end

        def draw(resource, actions, constraints)
          @drawn = resource
          actions.each do |action, (verbs, place, suffix, name)|
            scope(resource[place], as: resource[name], action_first: true, constraints: constraints) do
              match("#{suffix}(.:format)", via: verbs, to: "#{resource.controller}##{action}",
                as: suffix.empty? ? [] : action)
            end
          end
        end

        def inside_one(constraints, &block)
          scope(@drawn.nested, as: @drawn.singular, constraints: constraints, resource: @drawn, &block)
        end

        def actions_of(place, name, &block)
          resource = @scope.resource || raise(ConfigurationError,
            "#{place} belongs into the block of resources or resource")
          outer, @scope = @scope, resource.scope
          scope(resource[place], as: resource[name], action_first: true, resource: resource, &block)
        ensure
          @scope = outer if outer
        end

        # `get :preview` in a resource's block, with `on: :member` instead of a `member` block.
        def match_action(name, on:, **options, &block)
          return send(on) { match(name, **options, &block) } if %i[member collection].include?(on)
          resource = @scope.resource || raise(ConfigurationError,
            "#{name.inspect}: write a path as a String, except in the block of resources or resource")
          match("/#{name}(.:format)", to: ("#{resource.controller}##{name}" unless block), as: name, **options, &block)
        end
      end
    end
  end
end
