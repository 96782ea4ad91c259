# frozen_string_literal: true

require "fileutils"
require "optparse"
require_relative "launcher"
require_relative "../stacks"

module Pelton
  module HTTP
    # `pelton serve`.
    class Command
      # The malloc limits make Ruby collect before the strings of large responses have taken fresh memory. The free slots make
      # collections rarer, each of which marks the stacks of all waiting fibers (docs/adr/017-free-slots.md).
      GARBAGE = {
        "RUBY_GC_MALLOC_LIMIT" => "4194304", "RUBY_GC_MALLOC_LIMIT_MAX" => "8388608", "RUBY_GC_OLDMALLOC_LIMIT_MAX" => "33554432",
        "RUBY_GC_HEAP_FREE_SLOTS" => "65536"
      }.freeze

      # Serves until a signal comes.
      #
      # @yieldparam launcher [Launcher]
      # @yieldparam configuration [Configuration]
      # @yieldreturn [Integer] the exit status; the block serves, in this process or in several
      # @return [Integer] the exit status: 0, 1 when it cannot serve, 2 when the arguments or the configuration are wrong
      def self.run(arguments, out: $stdout, error: $stderr, &processes)
        command = new(arguments)
        return out.puts(command.answer) || 0 if command.answer
        Stacks.deepen(["serve", *arguments], GARBAGE)
        command.serve(out, &processes)
      rescue OptionParser::ParseError, Configuration::Invalid, ArgumentError => problem
        error.puts("pelton serve: #{problem.message}")
        2
      rescue Pelton::Error, SystemCallError => problem
        error.puts("pelton serve: #{problem.message.sub(/ @ \w+/, "")}") # Ruby adds its function's name
        1
      end

      attr_reader :configuration

      # @raise [OptionParser::ParseError, Configuration::Invalid]
      def initialize(arguments)
        @settings = []
        @file = Configuration::PLACES.find { |place| File.file?(place) }
        rest = parser.parse(arguments)
        return if @answer
        raise OptionParser::InvalidArgument, rest[1] if rest.size > 1
        @settings << -> { configuration.rackup(rest.first) } if rest.any?
        @configuration = Configuration.new.load(@file)
        [@configuration.binds, @configuration.modes].each(&:clear) if @binds
        @settings.each { |setting| instance_exec(&setting) }
        ENV["RACK_ENV"] = @configuration.rack_env
      end

      # @return [String, nil] the help or the version, if only that was asked for
      attr_reader :answer

      def serve(out)
        out.sync = true # the log must not wait in a buffer, also when it is a pipe
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
          options.on("-p", "--port PORT", Integer, "listen there (#{Configuration::PORT}): on 127.0.0.1 in development, otherwise on all addresses") do |port|
            @binds = true
            set { configuration.port(port) }
          end
          options.on("-C", "--config FILE", "settings in Ruby (#{Configuration::PLACES.join(" or ")}, if there is one)") { |path| @file = path }
          options.on("-w", "--workers COUNT", Integer, "processes that serve (0: this process alone)") { |count| set { configuration.workers(count) } }
          options.on("--[no-]preload", "load the application before the workers are forked") { |yes| set { configuration.preload(yes) } }
          options.on("-e", "--environment NAME", "RACK_ENV (development)") { |name| set { configuration.environment(name) } }
          options.on("-l", "--log FILE", "log requests to a file instead of standard output") { |path| set { configuration.log(path) } }
          options.on("-q", "--quiet", "print nothing, log no requests") { set { configuration.quiet(true) } }
          options.on("--early-hints", "let the application send 103 Early Hints") { set { configuration.early_hints(true) } }
          options.on("--control ADDRESS", "serve statistics as JSON and for Prometheus: tcp://host:port or the path of a UNIX socket") { |address| set { configuration.control(address) } }
          options.on("-v", "--version", "print the version") { @answer = "pelton #{VERSION}" }
          options.on("-h", "--help", "print this") { @answer = options.help }
        end
      end

      # ssl://host:port?cert=FILE&key=FILE, unix:///path?mode=660
      def bind(address)
        plain, query = address.split("?", 2)
        settings = (query || "").split("&").to_h { |pair| pair.split("=", 2) }
        unknown = settings.keys - %w[cert key ca mode]
        raise OptionParser::InvalidArgument, "#{address}: #{unknown.join(", ")}" if unknown.any?
        tls = {certificate: settings["cert"], key: settings["key"], ca_file: settings["ca"]}.compact
        configuration.bind(plain, mode: settings["mode"]&.then { |mode| octal(mode) }, **tls)
      end

      def octal(mode) = Integer(mode, 8, exception: false) || raise(OptionParser::InvalidArgument, "mode=#{mode}: give an octal number such as 660")
    end
  end
end
