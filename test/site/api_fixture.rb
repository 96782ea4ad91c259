# frozen_string_literal: true

require_relative "helper"

# A small API, with its docstrings and its signatures.
class SiteApiTestCase < SiteTest
  FILES = {
    "lib/pelton.rb" => <<~RUBY,
      # The runtime.
      module Pelton
        # Runs the loop. See {Stream#gets}, `a {Not}` and {Gone}.
        #
        # @param grace [Numeric, nil] seconds
        # @return [Stream] a {Stream}
        # @raise [Error]
        # @asynchronous
        def self.run(grace: 5, &block) = nil

        # The root of all errors.
        class Error < StandardError
        end

        # Nobody else's.
        # @private
        class Secret
        end

        # Not declared.
        class Hidden
        end

        # Bytes.
        class Stream
          # Bytes of a line.
          LIMIT = 1 << 20

          # @return [Integer]
          attr_reader :fd

          # Appends.
          def <<(string) = self

          # Internal.
          def _gets = nil

          # @!method gets(chomp: false)
          #   A line, in C.
          #   @return [String, nil]

          # @!method close
          #   The end.
        end
      end
    RUBY
    "pelton-eventmachine/lib/eventmachine.rb" => <<~RUBY,
      # EventMachine's API.
      module EventMachine
        # Connects.
        def self.connect(host) = nil
      end
    RUBY
    "sig/pelton.rbs" => <<~RBS
      module Pelton
        def self.run: (?grace: Numeric) { () -> void } -> void
        class Error < StandardError
        end
        class Stream
          attr_reader fd: Integer
          def gets: (?chomp: bool) -> String?
          def close: () -> nil
          def looped: () -> nil
          def <<: (untyped) -> self
        end
      end
    RBS
  }.freeze

  def with_api = repository(FILES) { |root| yield Site::Api.new(root) }
end
