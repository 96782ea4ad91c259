# frozen_string_literal: true

module Pelton
  class ResumableStream
    # What a reader is told.
    class Event
      # `:append`: the text goes on. `:begin`: it is made anew, and what the reader has of it is void. The state has
      # changed: `:running`, `:finished`, `:failed`, `:cancelled` or `:interrupted`.
      #
      # @return [Symbol]
      attr_reader :type

      # @return [String] what comes next, of `:append`; otherwise empty
      attr_reader :text

      # @return [String] what the reader has then, for `after:` of {ResumableStream#follow}
      attr_reader :position

      # @return [String, nil] the class of the error, where one has ended the run
      attr_reader :error

      # @return [Boolean] whether a text begins with this one, which so takes the place of whatever the reader shows
      def first? = @type == :append && @position.end_with?(":#{@text.bytesize}")

      # @private
      def initialize(type, position, text: "", error: nil)
        @type, @position, @text, @error = type, position, text, error
      end
    end
  end
end
