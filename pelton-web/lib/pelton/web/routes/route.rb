# frozen_string_literal: true

module Pelton
  module Web
    class Routes
      # A route: a verb, a path and a target.
      class Route
        # A block that runs as an action.
        Action = Struct.new(:block)

        # @return [String, nil] "GET"; nil: all verbs
        attr_reader :verb
        attr_reader :pattern

        # @return [String, Action, #call] "posts#show", an {Action}, or a Rack application
        attr_reader :target
        attr_reader :name

        # @return [Array<#call>] blocks that get the request and return whether the route is for it
        attr_reader :guards

        def initialize(verb, pattern, target, name: nil, guards: [])
          @verb = verb
          @pattern = pattern
          @target = target
          @name = name
          @guards = guards
          freeze
        end

        # @return [String] the path, for logs and metrics
        def to_s = @pattern.path

        # @return [#call] the endpoint, called if the guards agree
        def guard(endpoint)
          return endpoint if @guards.empty?
          ->(env, captures) { endpoint.call(env, captures) if @guards.all? { |guard| guard.call(Request.new(env)) } }
        end
      end
    end
  end
end
