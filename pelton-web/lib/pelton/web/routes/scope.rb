# frozen_string_literal: true

module Pelton
  module Web
    class Routes
      # What the blocks around a route give to it: the beginning of its path, the module of its controller, the beginning of its name, and
      # constraints.
      class Scope
        attr_reader :path
        attr_reader :constraints

        # @return [Array<#call>] get the request and say whether the routes are for it
        attr_reader :guards

        # @return [Resources::Resource, nil] whose block this is
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
        # @return [Scope] inside this one
        def inside(path = nil, module: nil, as: nil, constraints: {}, action_first: false, resource: nil)
          folder = binding.local_variable_get(:module)
          guard = constraints.respond_to?(:call)
          Scope.new(path ? path_of(path).chomp("/") : @path, folder: [*@folder, *folder], name: [*@name, *as], action_first: action_first, resource: resource,
            constraints: guard ? @constraints : @constraints.merge(constraints), guards: guard ? [*@guards, constraints] : @guards)
        end

        # @return [String] a path inside the scope
        def path_of(path)
          path = "/#{path}" unless path.start_with?("/", "(")
          (path == "/" && !@path.empty?) ? @path : @path + path
        end

        # @return [Symbol] a name inside the scope. That of an action of a resource goes before: publish_post
        def name_of(name) = (@action_first ? [*name, *@name] : [*@name, *name]).join("_").to_sym

        # @return [Object] the target of a route, with the module of its controller
        def target(target) = target.is_a?(String) ? [*@folder, target].join("/") : target
      end
    end
  end
end
