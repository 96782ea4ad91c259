# frozen_string_literal: true

module Pelton
  module Web
    class Routes
      # What blocks around a route add to it: a path prefix, its controller's module, a name prefix, and constraints.
      class Scope
        attr_reader :path
        attr_reader :constraints

        # @return [Array<#call>] blocks that get the request and return whether the routes are for it
        attr_reader :guards

        # @return [Resources::Resource, nil] the resource of this block
        attr_reader :resource

        def initialize(path = "", folder: [], name: [], action_first: false, constraints: {}, guards: [], resource: nil)
          @path = path
          @folder = folder
          @name = name
          @action_first = action_first
          @constraints = constraints
          @guards = guards
          @resource = resource
        end

        # @param options [Hash] see {Routes#scope}
        # @return [Scope] nested in this one
        def inside(path = nil, module: nil, as: nil, constraints: {}, action_first: false, resource: nil)
          folder = binding.local_variable_get(:module)
          guard = constraints.respond_to?(:call)
          Scope.new(path ? path_of(path).chomp("/") : @path, folder: [*@folder, *folder], name: [*@name, *as],
            action_first: action_first, resource: resource,
            constraints: guard ? @constraints : @constraints.merge(constraints),
            guards: guard ? [*@guards, constraints] : @guards)
        end

        # @return [String] the path with the scope's prefix
        def path_of(path)
          path = "/#{path}" unless path.start_with?("/", "(")
          (path == "/" && !@path.empty?) ? @path : @path + path
        end

        # @return [Symbol] the name with the scope's prefix. For an action of a resource the name comes first:
        #   publish_post
        def name_of(name) = (@action_first ? [*name, *@name] : [*@name, *name]).join("_").to_sym

        # @return [Object] a route's target, with its controller's module
        def target(target) = target.is_a?(String) ? [*@folder, target].join("/") : target
      end
    end
  end
end
