# frozen_string_literal: true

require "fileutils"
require "optparse"
require_relative "launcher"
require_relative "../stacks"

module Pelton
  module HTTP
    # `pelton serve`.
    class Command
      # Fresh strings are the cost of large responses: with these limits Ruby collects before they have become many. And each
      # collection looks through the stacks of all fibers that wait: with more free slots there are fewer (docs/adr/017-free-slots.md).
      GARBAGE = {
        "RUBY_GC_MALLOC_LIMIT" => "4194304", "RUBY_GC_MALLOC_LIMIT_MAX" => "8388608", "RUBY_GC_OLDMALLOC_LIMIT_MAX" => "33554432",
        "RUBY_GC_HEAP_FREE_SLOTS" => "65536"
      }.freeze

      # Serves until a signal comes. The block is given the launcher and the configuration, and serves by processes.
      #
      # @return [Integer] the exit status: 0, 1 when it cannot serve, 2 when it was asked wrongly
      def self.run(arguments, out: $stdout, error: $stderr, &processes)
        command = new(arguments)
        return out.puts(command.help) || 0 if command.help?
        Stacks.deepen(["serve", *arguments], GARBAGE)
        command.serve(out, &processes)
      rescue OptionParser::ParseError, Configuration::Invalid, ArgumentError => problem
        error.puts("pelton serve: #{problem.message}")
        2
      rescue Pelton::Error, SystemCallError => problem
        error.puts("pelton serve: #{problem.message}")
        1
      end

      attr_reader :configuration

      # @raise [OptionParser::ParseError, Configuration::Invalid]
      def initialize(arguments)
        @settings = []
        @file = Configuration::PLACES.find { |place| File.file?(place) }
        rest = parser.parse(arguments)
        raise OptionParser::InvalidArgument, rest[1] if rest.size > 1
        @settings << -> { configuration.rackup(rest.first) } if rest.any?
        @configuration = Configuration.new.load(@file)
        [@configuration.binds, @configuration.modes].each(&:clear) if @binds
        @settings.each { |setting| instance_exec(&setting) }
        ENV["RACK_ENV"] = @configuration.environment || ENV["RACK_ENV"] || "development"
      end

      def help? = @help

      def help = parser.help

      def serve(out)
        out.sync = true # whoever reads the log reads it now, also through a pipe
        path, pid = configuration.pidfile, Process.pid
        File.write(path, "#{pid}\n") if path
        yield(Launcher.new(configuration, out: out), configuration)
      ensure
        FileUtils.rm_f(path) if path && pid == Process.pid
      end

      private

      def set(&block) = @settings << block

      def parser
        OptionParser.new do |options|
          options.banner = "usage: pelton serve [config.ru] [options]"
          options.on("-b", "--bind ADDRESS", "tcp://host:port, unix:///path?mode=660 or ssl://host:port?cert=FILE&key=FILE; again for more") do |address|
            @binds = true
            set { bind(address) }
          end
          options.on("-p", "--port PORT", Integer, "of all local addresses (#{Configuration::PORT})") do |port|
            @binds = true
            set { configuration.port(port) }
          end
          options.on("-C", "--config FILE", "settings in Ruby (#{Configuration::PLACES.join(" or ")}, if there is one)") { |path| @file = path }
          options.on("-w", "--workers COUNT", Integer, "processes that serve (0: this one alone)") { |count| set { configuration.workers(count) } }
          options.on("--[no-]preload", "load the application before the workers are forked") { |yes| set { configuration.preload(yes) } }
          options.on("-e", "--environment NAME", "RACK_ENV (development)") { |name| set { configuration.environment(name) } }
          options.on("-l", "--log FILE", "log requests there instead of to standard output") { |path| set { configuration.log(path) } }
          options.on("-q", "--quiet", "say nothing, log no requests") { set { configuration.quiet(true) } }
          options.on("--control ADDRESS", "figures as JSON and for Prometheus there: tcp://host:port or a UNIX socket's path") { |address| set { configuration.control(address) } }
          options.on("-h", "--help") { @help = true }
        end
      end

      # ssl://host:port?cert=FILE&key=FILE, unix:///path?mode=660
      def bind(address)
        plain, query = address.split("?", 2)
        settings = (query || "").split("&").to_h { |pair| pair.split("=", 2) }
        unknown = settings.keys - %w[cert key ca mode]
        raise OptionParser::InvalidArgument, "#{address}: #{unknown.join(", ")}" if unknown.any?
        tls = {certificate: settings["cert"], key: settings["key"], ca_file: settings["ca"]}.compact
        configuration.bind(plain, mode: settings["mode"]&.then { |mode| Integer(mode, 8) }, **tls)
      end
    end
  end
end
