# frozen_string_literal: true

module Pelton
  module Lab
    # One line on a terminal that says what is being done; nothing where the output is no terminal.
    class Progress
      def initialize(output)
        @output = output.tty? ? output : nil
      end

      def call(text)
        @output&.print("\r\e[K#{text[0, 110]}")
      end

      def clear
        @output&.print("\r\e[K")
      end
    end
  end
end
