# frozen_string_literal: true

module Pelton
  module Web
    # The Accept header of a request (RFC 9110, section 12.5.1).
    module Accept
      RANGE = %r{\A\s*[\w!#{$&}^.+*-]+/[\w!#{$&}^.+*-]+\s*(?:;.*)?\z}
      private_constant :RANGE

      # @param header [String, nil] ranges that are malformed count as though they were not there
      # @param types [Array<String>] what there is; of types that the client likes equally, the first
      # @return [String, nil] the type that the client likes best; nil: none
      def self.best(header, types)
        return types.first if header.nil? || header.empty?
        ranges = header.b.split(",", 100).first(99).grep(RANGE)
        Rack::Utils.best_q_match(ranges.join(","), types) if ranges.any?
      end
    end
  end
end
