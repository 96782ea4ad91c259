# frozen_string_literal: true

module Pelton
  module Web
    class Routes
      # Lets forms, which send only GET and POST, use other verbs: a POST with the field `_method` counts as PUT, PATCH
      # or DELETE if its path has such a route.
      module FormVerb
        # Verbs that a form may name.
        NAMES = %w[PUT PATCH DELETE].freeze

        class << self
          # @param request [Request] a POST
          # @yieldreturn [Array<Verbs>] the verbs of the request's path
          # @return [String, nil] the form's verb
          # @raise [BadRequest] if the form cannot be parsed
          # @asynchronous while the form is still arriving
          def of(request)
            # JSON bodies are not read here. A form is read only once: Rack keeps its fields in the env.
            return unless request.form_data? && names?(yield)
            verb = request.form["_method"]
            NAMES.find { |one| one.casecmp(verb)&.zero? } if verb.is_a?(String)
          end

          private

          # Whether any place has a verb that a form may name.
          def names?(places)
            allowed = places.flat_map(&:allowed)
            (NAMES & allowed).any? || allowed.include?("POST") && places.any?(&:all?)
          end
        end
      end
    end
  end
end
