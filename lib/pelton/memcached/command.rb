# frozen_string_literal: true

require "optparse"
require_relative "../memcached"

module Pelton
  module Memcached
    # `pelton memcached`: a {Server} alone in a process, with memcached's own options.
    class Command
      MEGABYTE = 1 << 20
      UNITS = {"k" => 1 << 10, "m" => MEGABYTE}.freeze
      SPARE_DESCRIPTORS = 64 # in addition to the clients'

      # The command line was not understood.
      class UsageError < Error
      end

      # Runs the server until it is interrupted.
      #
      # @return [Integer] the exit status: 0, 1 when it cannot listen, 2 when the arguments are wrong
      def self.run(arguments, out: $stdout, error: $stderr)
        command = new(arguments)
        return out.puts(command.answer) || 0 if command.answer
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
        raise UsageError, "unknown argument: #{rest.first}" if rest.any?
        raise UsageError, "a port is 0 to 65535, not #{@port}" unless (0..65_535).cover?(@port)
      rescue OptionParser::ParseError => error
        raise UsageError, error.message
      end

      # @return [String, nil] the help or the version, if only that was asked for
      attr_reader :answer

      # @return [Hash] the options for {Server#initialize}
      def options
        {host: (@hosts if @hosts.any?), port: @port, path: @path, mode: @mode, memory: @memory,
         max_connections: @connections,
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

      # memcached accepts -p=11211 as well as -p11211, which OptionParser does not.
      def short_forms(arguments) = arguments.map { |argument| argument.sub(/\A(-[a-zA-Z])=/, '\1') }

      def parser
        OptionParser.new do |parser|
          parser.banner = "usage: pelton memcached [options]\n\n" \
            "A memcached that needs no installation, with memcached's own options.\n\n"
          parser.on("-p", "--port PORT", Integer, "TCP port (default: 11211; 0: any free one, which is " \
            "printed)") do |port|
            @port = port
          end
          parser.on("-U", "--udp-port PORT", Integer, "only 0: UDP is not supported") { |port| refuse_udp(port) }
          parser.on("-u", "--user USER", "accepted only if it changes nothing: start the server as that user " \
            "instead") do |user|
            refuse_user(user)
          end
          parser.on("-s", "--unix-socket FILE", "UNIX socket to listen on, instead of TCP") { |path| @path = path }
          parser.on("-a", "--unix-mask MODE", OptionParser::OctalInteger,
            "permissions of the UNIX socket, in octal (default: 700)") { |mode| @mode = mode }
          parser.on("-l", "--listen ADDRESS,...", Array, "addresses to listen on (default: 127.0.0.1)") do |hosts|
            @hosts.concat(hosts)
          end
          parser.on("-m", "--memory-limit MB", Integer, "memory of all items in megabytes (default: 64)") do |megabytes|
            @memory = megabytes * MEGABYTE
          end
          parser.on("-c", "--conn-limit N", Integer, "connections at a time (default: 1024)") do |number|
            @connections = number
          end
          parser.on("-I", "--max-item-size SIZE", "bytes of one item, or 512k, or 2m (default: 1m; 1k to " \
            "1024m)") do |size|
            @value_limit = bytes(size)
          end
          parser.on("-o", "--extended NAME=VALUE,...", Array,
            "idle_timeout=SECONDS: close connections after so many silent seconds") do |extras|
              extras.each { |extra| extend_by(extra) }
            end
          parser.on("-v", "--verbose", "print the addresses; twice: print each command, too") { @verbosity += 1 }
          parser.on("-V", "--version", "print the version") { @answer = "pelton #{VERSION}" }
          parser.on("-h", "--help", "print this") { @answer = parser.help }
        end
      end

      def extend_by(extra)
        seconds = extra[/\Aidle_timeout=(\d+)\z/, 1] or raise UsageError,
          "-o supports idle_timeout=SECONDS only, not #{extra}"
        @idle_timeout = Integer(seconds, 10)
      end

      def refuse_udp(port)
        unless port.zero?
          raise UsageError, "UDP is not supported, because open UDP ports amplify attacks: leave out -U, or give -U 0"
        end
      end

      # As memcached, which looks at -u only as root.
      def refuse_user(user)
        unless Process.euid.nonzero? || %w[root 0].include?(user)
          raise UsageError, "-u is not supported: start pelton memcached as #{user}, or leave out -u"
        end
      end

      def bytes(size)
        match = /\A(\d+)([km]?)\z/i.match(size) or raise UsageError,
          "a size must be like 1048576, 1024k or 1m, not #{size}"
        Integer(match[1], 10) * UNITS.fetch(match[2].downcase, 1)
      end

      def announce(server, out)
        out.puts("pelton memcached: listening on #{[*server.addresses].join(", ")}")
        out.flush
      end

      # Raises the limit of descriptors to the number of clients, as far as the system allows.
      def allow_descriptors(error)
        wanted = @connections + SPARE_DESCRIPTORS
        soft, hard = Process.getrlimit(:NOFILE)
        return if soft >= wanted
        Process.setrlimit(:NOFILE, [wanted, hard].min, hard)
        if hard < wanted
          error.puts("pelton memcached: the system allows #{hard} descriptors, fewer than -c #{@connections}")
        end
      end
    end
  end
end
