# frozen_string_literal: true

require_relative "../program"

module Pelton
  # Callbacks run on fibers, and a fiber has an eighth of the main program's call depth. Two environment variables
  # change that. Ruby reads them only when it starts, so a program cannot set them for itself
  # (docs/reference/stacks.md).
  module Stacks
    # Bytes: the sizes that the main program has by default. They reserve address space; resident memory does not
    # change.
    SIZES = {"RUBY_FIBER_VM_STACK_SIZE" => "1048576", "RUBY_FIBER_MACHINE_STACK_SIZE" => "8388608"}.freeze

    class << self
      # Starts the running program again with deep stacks. Returns at once when both variables are set, to whatever
      # value. When the program cannot be started again, it writes a warning and returns.
      #
      # Call it first, because all code before it runs twice. Ruby gets the options of its command line again where
      # /proc tells them; elsewhere they are lost, except RUBYOPT.
      #
      # @param arguments [Array<String>] the program's
      # @param more [Hash{String => String}] other variables that Ruby reads when it starts
      def deepen(arguments, more = {})
        missing = SIZES.merge(more).reject { |name, _| ENV.key?(name) }
        return if missing.empty?
        raise Errno::ENOENT, $PROGRAM_NAME unless File.file?($PROGRAM_NAME) # "-e"
        exec(missing, *Program.command(arguments))
      rescue SystemCallError => error
        $stderr.write("pelton: cannot start again with deep stacks: #{error.message}\n")
      end
    end
  end
end
