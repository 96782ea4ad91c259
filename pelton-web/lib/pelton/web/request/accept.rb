# frozen_string_literal: true

module Pelton
  module Web
    # The Accept header (RFC 9110, section 12.5.1).
    module Accept
      RANGE = %r{\A\s*[\w!#{$&}^.+*-]+/[\w!#{$&}^.+*-]+\s*(?:;.*)?\z}
      private_constant :RANGE

      # @param header [String, nil] malformed ranges are ignored
      # @param types [Array<String>] the available types; of equally preferred ones, the first is chosen
      # @return [String, nil] the type that the client prefers; nil if it accepts none
      def self.best(header, types)
        return types.first if header.nil? || header.empty?
        ranges = header.b.split(",", 100).first(99).grep(RANGE)
        Rack::Utils.best_q_match(ranges.join(","), types) if ranges.any?
      end
    end
  end
end
