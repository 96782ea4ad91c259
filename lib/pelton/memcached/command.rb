# frozen_string_literal: true

require "optparse"
require_relative "../memcached"

module Pelton
  module Memcached
    # `pelton memcached`: a {Server} alone in a process, with memcached's own options.
    class Command
      MEGABYTE = 1 << 20
      UNITS = {"k" => 1 << 10, "m" => MEGABYTE}.freeze
      SPARE_DESCRIPTORS = 64 # beside those of clients

      # The command line was not understood.
      class UsageError < Error
      end

      # Runs it until it is interrupted, and returns the exit status: 0, 1 when it cannot listen, 2 when it was asked
      # wrongly.
      def self.run(arguments, out: $stdout, error: $stderr)
        command = new(arguments)
        return command.help(out) if command.help?
        command.serve(out, error)
      rescue UsageError, ArgumentError => problem
        error.puts("pelton memcached: #{problem.message}")
        2
      rescue Pelton::Error => problem
        error.puts("pelton memcached: #{problem.message}")
        1
      end

      # @raise [UsageError]
      def initialize(arguments)
        @port, @hosts, @path, @mode = 11_211, [], nil, 0o700
        @memory, @connections, @value_limit, @idle_timeout, @verbosity = 64 * MEGABYTE, 1024, MEGABYTE, 0, 0
        rest = parser.parse(short_forms(arguments))
        raise UsageError, "what is #{rest.first}?" if rest.any?
      rescue OptionParser::ParseError => error
        raise UsageError, error.message
      end

      # @return [Boolean] whether only help was asked for
      def help? = @help

      def help(out)
        out.puts(parser.help)
        0
      end

      # @return [Hash] what {Server#initialize} is given
      def options
        {host: (@hosts if @hosts.any?), port: @port, path: @path, mode: @mode, memory: @memory, max_connections: @connections,
         value_limit: @value_limit, idle_timeout: @idle_timeout, verbosity: @verbosity}
      end

      def serve(out, error)
        allow_descriptors(error)
        Server.new(**options).run { |server| announce(server, out) if @verbosity > 0 || @port.zero? }
        0
      rescue SignalException
        0
      end

      private

      # -vv is -v -v to the parser, but -p11211 and -p=11211 are both memcached's.
      def short_forms(arguments)
        arguments.map { |argument| argument.sub(/\A(-[a-zA-Z])=/, '\1') }
      end

      def parser
        OptionParser.new do |parser|
          parser.banner = "usage: pelton memcached [options]\n\nA memcached that needs no installation, with memcached's own options.\n\n"
          parser.on("-p", "--port PORT", Integer, "TCP port (default: 11211; 0: any free one, which is printed)") { |port| @port = port }
          parser.on("-U", "--udp-port PORT", Integer, "0: there is no UDP") { |port| refuse_udp(port) }
          parser.on("-s", "--unix-socket FILE", "UNIX socket to listen on, instead of TCP") { |path| @path = path }
          parser.on("-a", "--unix-mask MODE", OptionParser::OctalInteger, "who may use the UNIX socket, in octal (default: 700)") { |mode| @mode = mode }
          parser.on("-l", "--listen ADDRESS,...", Array, "addresses to listen on (default: 127.0.0.1)") { |hosts| @hosts.concat(hosts) }
          parser.on("-m", "--memory-limit MB", Integer, "memory of all items in megabytes (default: 64)") { |megabytes| @memory = megabytes * MEGABYTE }
          parser.on("-c", "--conn-limit N", Integer, "connections at a time (default: 1024)") { |number| @connections = number }
          parser.on("-I", "--max-item-size SIZE", "bytes of one item, or 512k, or 2m (default: 1m; 1k to 1024m)") { |size| @value_limit = bytes(size) }
          parser.on("-o", "--extended NAME=VALUE,...", Array, "idle_timeout=SECONDS: close connections that are silent for so long") { |extras| extras.each { |extra| extend_by(extra) } }
          parser.on("-v", "--verbose", "say where it listens; twice: each command, too") { @verbosity += 1 }
          parser.on("-h", "--help", "print this") { @help = true }
        end
      end

      def extend_by(extra)
        seconds = extra[/\Aidle_timeout=(\d+)\z/, 1] or raise UsageError, "-o knows idle_timeout=SECONDS, not #{extra}"
        @idle_timeout = Integer(seconds, 10)
      end

      def refuse_udp(port)
        raise UsageError, "there is no UDP: an open UDP port is a weapon (-U 0)" unless port.zero?
      end

      def bytes(size)
        match = /\A(\d+)([km]?)\z/i.match(size) or raise UsageError, "a size is 1048576, 1024k or 1m, not #{size}"
        Integer(match[1], 10) * UNITS.fetch(match[2].downcase, 1)
      end

      def announce(server, out)
        out.puts("pelton memcached: listening on #{[*server.addresses].join(", ")}")
        out.flush
      end

      # As many as there may be clients, if the system lets us.
      def allow_descriptors(error)
        wanted = @connections + SPARE_DESCRIPTORS
        soft, hard = Process.getrlimit(:NOFILE)
        return if soft >= wanted
        Process.setrlimit(:NOFILE, [wanted, hard].min, hard)
        error.puts("pelton memcached: the system allows #{hard} descriptors, fewer than -c #{@connections}") if hard < wanted
      end
    end
  end
end
