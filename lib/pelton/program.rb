# frozen_string_literal: true

require "rbconfig"

module Pelton
  # The running program, and how to start it again.
  # @private
  module Program
    class << self
      # The command line that starts this program again with the same options of Ruby (-I, -r, -W, --yjit).
      #
      # @param arguments [Array<String>] the program's
      # @return [Array<String>]
      def command(arguments) = [RbConfig.ruby, *options, $PROGRAM_NAME, *arguments]

      private

      # Ruby does not tell its options, but Linux tells the command line.
      def options
        words = File.read("/proc/self/cmdline").split("\0")
        # Ruby -S
        script = words.index(Process.argv0) ||
          words.index { |word| File.basename(word) == File.basename(Process.argv0) }
        # A program that has set its title, as `bundle exec` does, has overwritten them
        options = words[1...script] if script
        (options.nil? || options.any?(/\A-[CX]/)) ? library : options # -C and -X would change the folder twice
      rescue SystemCallError
        library
      end

      # Where Pelton is loaded as a gem, it will be found again, perhaps in a newer version.
      def library
        (defined?(::Gem) && ::Gem.loaded_specs.key?("pelton")) ? [] : ["-I", File.expand_path("..", __dir__)]
      end
    end
  end
  private_constant :Program
end
