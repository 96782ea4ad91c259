# frozen_string_literal: true

module Pelton
  module HTTP
    # What options of a {Client} may be: a wrong one is refused where it is given, with its name.
    # @private
    module ClientOptions
      SECONDS = ["a number of seconds, or nil", ->(value) {
        value.nil? ||
          (value.is_a?(Numeric) && value.real? && value >= 0)
      }].freeze
      BYTES = ["a number of bytes, or nil", SECONDS.last].freeze
      COUNT = ["an integer of 0 or more", ->(value) { value.is_a?(Integer) && value >= 0 }].freeze
      SWITCH = ["true or false", ->(value) { [true, false, nil].include?(value) }].freeze
      KINDS = {
        timeout: SECONDS, connect_timeout: SECONDS, write_timeout: SECONDS, response_timeout: SECONDS,
        read_timeout: SECONDS,
        expect_timeout: SECONDS, pool_timeout: SECONDS,
        keep_alive: ["a number of seconds", ->(value) { value.is_a?(Numeric) && value.real? && value >= 0 }],
        http2: ["true, false or :prior_knowledge", ->(value) { [true, false, :prior_knowledge].include?(value) }],
        concurrency: ["a positive integer", ->(value) { value.is_a?(Integer) && value.positive? }],
        redirects: COUNT, retries: COUNT,
        max_body: BYTES, expect: BYTES, stream: SWITCH, decode: SWITCH
      }.freeze
      private_constant :SECONDS, :BYTES, :COUNT, :SWITCH, :KINDS

      # @param options [Hash{Symbol => Object}]
      # @param names [Array<Symbol>] that are known
      # @raise [ArgumentError]
      def self.check(options, names = KINDS.keys)
        unknown = options.keys - names
        raise ArgumentError, "unknown option#{"s" if unknown.size > 1}: #{unknown.join(", ")}" if unknown.any?
        options.each do |name, value|
          kind, right = KINDS[name]
          raise ArgumentError, "#{name}: must be #{kind}, not #{value.inspect}" unless right.call(value)
        end
      end
    end
  end
end
