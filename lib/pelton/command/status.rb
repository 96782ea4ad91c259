# frozen_string_literal: true

require "json"
require_relative "../tasks/list"
require_relative "control_client"

module Pelton
  # `pelton status ADDRESS`: asks a control socket, and prints the counters and the tasks of the server.
  module Status
    USAGE = <<~TEXT
      usage: pelton status ADDRESS

      Shows the counters and tasks of a server. ADDRESS is its --control: tcp://host:port, or the path of a UNIX socket.
    TEXT

    class << self
      # @param arguments [Array<String>] the control socket's address
      # @return [Integer] the exit status: 0, 1 without an answer, 2 when the arguments are wrong
      def run(arguments, out: $stdout, error: $stderr)
        address, *rest = arguments
        return out.puts(USAGE) || 0 if (arguments & %w[-h --help]).any?
        return error.puts(USAGE) || 2 unless address && rest.empty? && !address.start_with?("-")
        print_stats(ask(address, "/stats"), out)
        print_tasks(ask(address, "/tasks"), out)
        0
      rescue SystemCallError, ArgumentError, JSON::ParserError => problem
        error.puts("pelton status: #{address}: #{problem.message}")
        1
      end

      private

      def ask(address, path) = JSON.parse(ControlClient.ask(address, "GET", path))

      def print_stats(stats, out, indent = "")
        stats.each do |name, value|
          case value
          when ->(one) { one.is_a?(Hash) && one.key?("+Inf") }
            out.puts("#{indent}#{name}: #{value["+Inf"]} in #{value["sum"].round(3)} s")
          when Hash then out.puts("#{indent}#{name}:").then { print_stats(value, out, "#{indent}  ") }
          when Array then value.each do |one|
            out.puts("#{indent}#{name}:").then { print_stats(one, out, "#{indent}  ") }
          end
          else out.puts("#{indent}#{name}: #{value}")
          end
        end
      end

      # One process answers with a list, a master with the list of each worker by its index.
      def print_tasks(tasks, out)
        return out.puts("", TaskList.text(tasks)) if tasks.is_a?(Array)
        tasks.each { |index, list| out.puts("", "worker #{index}", list ? TaskList.text(list) : "it does not answer") }
      end
    end
  end
end
