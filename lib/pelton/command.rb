# frozen_string_literal: true

require_relative "version"

module Pelton
  # The command line, `pelton COMMAND`. Each command loads its own room only.
  module Command
    USAGE = <<~TEXT
      usage: pelton COMMAND [options]

        lab       rerun the experiments (pelton lab --help)
        version   print the version
    TEXT

    # Runs a command line and returns the exit status.
    def self.run(arguments)
      command, *rest = arguments
      case command
      when "version", "--version", "-v"
        puts "pelton #{VERSION}"
        0
      when "lab"
        require_relative "lab/command"
        Lab::Command.run(rest)
      when nil, "help", "--help", "-h"
        puts USAGE
        0
      else
        warn "pelton: no command #{command.inspect}\n\n#{USAGE}"
        2
      end
    end
  end
end
