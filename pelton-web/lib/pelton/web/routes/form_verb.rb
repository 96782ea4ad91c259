# frozen_string_literal: true

module Pelton
  module Web
    class Routes
      # A browser's form sends GET and POST only. A POST whose form has the field `_method` counts as PUT, PATCH or DELETE, where its path
      # has a route for one of them.
      module FormVerb
        # The verbs that a form may name.
        NAMES = %w[PUT PATCH DELETE].freeze

        class << self
          # @param request [Request] a POST
          # @yieldreturn [Array<Verbs>] what is at the request's path
          # @return [String, nil] the verb that the form names
          # @raise [BadRequest] the form cannot be read
          # @asynchronous where the form is still arriving
          def of(request)
            # A JSON body is not read here, and a form was read once: Rack keeps its fields in the env.
            return unless request.form_data? && names?(yield)
            verb = request.form["_method"]
            NAMES.find { |one| one.casecmp(verb)&.zero? } if verb.is_a?(String)
          end

          private

          # Whether it matters what the form names.
          def names?(places)
            allowed = places.flat_map(&:allowed)
            (NAMES & allowed).any? || allowed.include?("POST") && places.any?(&:all?)
          end
        end
      end
    end
  end
end
