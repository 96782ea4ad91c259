# frozen_string_literal: true

require "json"
require "socket"
require_relative "../address"
require_relative "../error"
require_relative "../tasks/list"

module Pelton
  # `pelton status ADDRESS`: asks a control socket, and prints the counters and the tasks of the server.
  module Status
    TIMEOUT = 5 # seconds to connect, and for each answer
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

      def ask(address, path)
        connect(address) do |socket|
          socket.write("GET #{path} HTTP/1.0\r\n\r\n")
          answer = +""
          while socket.wait_readable(TIMEOUT) && (chunk = socket.read_nonblock(65_536, exception: false))
            answer << chunk unless chunk == :wait_readable
          end
          head, body = answer.split("\r\n\r\n", 2)
          raise ArgumentError, "no answer to GET #{path}" unless head&.match?(%r{\AHTTP/1.1 200})
          JSON.parse(body)
        end
      end

      def connect(address, &block)
        parsed = Address.new(address.include?("://") ? address : "unix://#{address}")
        return UNIXSocket.open(parsed.path, &block) if parsed.path
        Socket.tcp(parsed.host, parsed.port, connect_timeout: TIMEOUT, &block)
      end

      def print_stats(stats, out, indent = "")
        stats.each do |name, value|
          case value
          when ->(one) { one.is_a?(Hash) && one.key?("+Inf") } then out.puts("#{indent}#{name}: #{value["+Inf"]} in #{value["sum"].round(3)} s")
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
