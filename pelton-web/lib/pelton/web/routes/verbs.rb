# frozen_string_literal: true

module Pelton
  module Web
    class Routes
      # The endpoints at a path by verb, in the order to try them: those for the verb itself; for HEAD, those for GET;
      # then those for all verbs.
      class Verbs
        def initialize
          @endpoints = Hash.new { |all, verb| all[verb] = [] }
        end

        # @param verb [String, nil] nil: all verbs
        # @param endpoint [#call] takes the env and the path's variables, and returns Rack's response, or nil if the
        #   request is not for it, and the next one is tried
        def add(verb, endpoint)
          @endpoints[verb] << endpoint
        end

        def compile
          @endpoints.default_proc = nil
          own = @endpoints.except(nil)
          heads = own["GET"]&.map { |endpoint| Head.new(endpoint) }
          all = @endpoints[nil] || []
          @allowed = own.keys
          @allowed |= ["HEAD"] if heads
          @ranks = [table_of(own), (table_of("HEAD" => heads) if heads), (table_of({}, all) if all.any?)]
          @table =
            table_of(own.merge(heads ? {"HEAD" => [*own["HEAD"], *heads]} : {}).transform_values { |list| list + all },
              all)
          self
        end

        # @return [Hash{String => #call}] endpoints by verb
        attr_reader :table

        # @return [Array<Hash, nil>] the same in three steps: the verb itself, HEAD by GET, all verbs
        attr_reader :ranks

        def [](verb) = @table[verb]

        # @return [Array<String>] verbs for `Allow`
        attr_reader :allowed

        # @return [Boolean] whether it takes all verbs
        def all? = @endpoints.key?(nil)

        # Several endpoints; the first that accepts the request responds.
        Choice = Struct.new(:endpoints) do
          def call(env, captures)
            endpoints.each { |endpoint| endpoint.call(env, captures)&.then { |answer| return answer } }
            nil
          end
        end

        # Responds to HEAD by GET's endpoint.
        Head = Struct.new(:endpoint) do
          def call(env, captures)
            status, headers, body = endpoint.call(env, captures)
            return unless status
            if body.is_a?(Array) && !headers.key?("content-length") &&
                !Rack::Utils::STATUS_WITH_NO_ENTITY_BODY.key?(status)
              headers["content-length"] = body.sum(&:bytesize).to_s
            end
            body.close if body.respond_to?(:close)
            [status, headers, []]
          end
        end
        private_constant :Choice, :Head

        private

        def table_of(lists, all = [])
          table = lists.transform_values { |list| one(list) }
          table.default = one(all) if all.any?
          table.freeze
        end

        def one(list) = (list.size == 1) ? list.first : Choice.new(list)
      end
    end
  end
end
