# frozen_string_literal: true

module Pelton
  module Web
    class Routes
      # What is at one path: an endpoint for each verb. HEAD is GET without the body, and a form may send PUT, PATCH and DELETE as a POST
      # whose field `_method` names the verb.
      class Verbs
        # The verbs that a form may name.
        OVERRIDES = %w[PUT PATCH DELETE].freeze

        # @param settings [Settings, nil] the application's
        def initialize(settings = nil)
          @settings = settings
          @endpoints = {}
        end

        # @param verb [String, nil] nil: all that have no endpoint of their own
        # @param endpoint [#call] takes the env and the values of the path's variables, and returns Rack's response, or nil: then the request
        #   is not for it, and the next one is tried
        def add(verb, endpoint)
          (@endpoints[verb] ||= []) << endpoint
        end

        # Makes one endpoint for each verb.
        def compile
          return if @table
          @table = @endpoints.transform_values { |list| (list.size == 1) ? list.first : Choice.new(list) }
          @table.default = @table[nil]
          @allowed = @table.keys.compact
          @table["HEAD"] ||= Head.new(@table["GET"]) if @table.key?("GET")
          @table["POST"] = Override.new(@table, @table["POST"], @settings) if (OVERRIDES & @allowed).any? || @table.key?("POST") && @table.default
          @table.freeze
        end

        # @return [Hash{String => #call}] the endpoints by their verbs
        attr_reader :table

        # @return [#call, nil] the endpoint
        def [](verb) = @table[verb]

        # @return [Array<String>] the verbs for `Allow`
        def allowed = (@table.key?("HEAD") ? @allowed | ["HEAD"] : @allowed)

        # Several endpoints of which the first that takes the request answers.
        Choice = Struct.new(:endpoints) do
          def call(env, captures)
            endpoints.each { |endpoint| endpoint.call(env, captures)&.then { |answer| return answer } }
            nil
          end
        end

        # Answers HEAD by what answers GET.
        Head = Struct.new(:endpoint) do
          def call(env, captures)
            status, headers, body = endpoint.call(env, captures)
            return unless status
            if body.is_a?(Array) && !headers.key?("content-length") && !Rack::Utils::STATUS_WITH_NO_ENTITY_BODY.key?(status)
              headers["content-length"] = body.sum(&:bytesize).to_s
            end
            body.close if body.respond_to?(:close)
            [status, headers, []]
          end
        end

        # Answers POST by what answers the verb that the form names, if it names one.
        Override = Struct.new(:table, :endpoint, :settings) do
          def call(env, captures)
            verb = verb_of(env)
            return endpoint&.call(env, captures) unless verb
            env["rack.methodoverride.original_method"] = "POST"
            env["REQUEST_METHOD"] = verb
            table[verb]&.call(env, captures)
          end

          private

          # A JSON body is not read here, and a form was read once: Rack keeps its fields in the env.
          def verb_of(env)
            request = Request.new(env, settings)
            return unless request.form_data?
            verb = request.form["_method"]
            OVERRIDES.find { |one| one.casecmp(verb)&.zero? } if verb.is_a?(String)
          end
        end
        private_constant :Choice, :Head, :Override
      end
    end
  end
end
