# frozen_string_literal: true

module Pelton
  class ResumableStream
    # What the store has of a text at one moment.
    class Snapshot
      # @return [Integer] 0 before the first run
      attr_reader :run

      # @return [String] UTF-8
      attr_reader :text

      # @return [String, nil] the class of the error that has ended a run
      attr_reader :error

      # @return [String] as the store has it: a writer that has died left it as "running"
      # @private
      attr_reader :_stored_state

      # @return [String] one of {STATES}
      attr_reader :state

      # @private
      def initialize(run:, state:, text:, error: nil, alive_at: nil)
        @run = run || 0
        @_stored_state = state
        @text = text.to_s
        @error = error
        @state = state || "waiting"
        @state = "interrupted" if @state == "running" && (alive_at.nil? || Time.now - alive_at > LEASE)
      end

      # @return [Integer] bytes
      def size = @text.bytesize

      # @return [String] for `after:` of {ResumableStream#follow}
      def position = Snapshot._position(@run, size)

      # @return [Boolean] whether the text is finished or cancelled
      def final? = FINAL.include?(@state)

      # @return [Boolean] whether it is being written, or will be
      def open? = %w[waiting running].include?(@state)

      # @private
      def self._position(run, offset) = "#{run}:#{offset}"

      # @return [Array(Integer, Integer)] run and offset; what is no position is the beginning
      # @private
      def self._parse(position)
        (match = /\A(\d{1,9}):(\d{1,12})\z/.match(position.to_s)) ? match.captures.map(&:to_i) : [0, 0]
      end
    end
  end
end
