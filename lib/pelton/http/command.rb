# frozen_string_literal: true

require "fileutils"
require "optparse"
require_relative "environment"
require_relative "launcher"
require_relative "../program/stacks"

module Pelton
  module HTTP
    # `pelton serve`.
    class Command
      # Free slots make collections rarer, each of which marks the stacks of all waiting fibers
      # (docs/internals/adr/017-free-slots.md). From Ruby 3.2 on a heap consists of pools, one for each size of slot,
      # and how many of a pool's slots are free once an application is loaded is different at each start. From 3.3 on
      # Ruby wants the same part of 10,000 slots free where a pool has fewer than these, and makes full collections
      # until they are: the pools of large objects never get there
      # (docs/internals/adr/061-a-third-of-each-pool-is-free.md). The malloc limits are Ruby's own: lower ones double
      # the collections as well (docs/internals/adr/046-rubys-own-malloc-limits.md).
      GARBAGE =
        if RUBY_VERSION < "3.2"
          {"RUBY_GC_HEAP_FREE_SLOTS" => "65536"}
        else
          large = GC.stat_heap.select { |_, pool| RUBY_VERSION >= "3.3" && pool[:slot_size] > 300 } # bytes
          {"RUBY_GC_HEAP_FREE_SLOTS_MIN_RATIO" => "0.35",
           **large.to_h { |number, _| ["RUBY_GC_HEAP_#{number}_INIT_SLOTS", "1000"] }}
        end.freeze

      # Serves until a signal comes, or only checks whether it could.
      #
      # @param check [#call] is called for `--check` with the command, and returns the exit status
      # @yieldparam launcher [Launcher]
      # @yieldparam configuration [Configuration]
      # @yieldreturn [Integer] the exit status; the block serves, in this process or in several
      # @return [Integer] the exit status: 0, 1 when it cannot serve, 2 when the arguments or the configuration are
      #   wrong
      def self.run(arguments, out: $stdout, error: $stderr, check: nil, &processes)
        command = new(arguments)
        return out.puts(command.answer) || 0 if command.answer
        return check.call(command) if command.check?
        command.configuration # what is wrong in it must show before the program starts again
        Stacks.deepen(["serve", *arguments], GARBAGE)
        command.notes.each { |note| error.puts("pelton serve: #{note}") }
        command.serve(out, &processes)
      rescue OptionParser::ParseError, Configuration::Invalid, ArgumentError => problem
        error.puts("pelton serve: #{problem.message}")
        2
      rescue Pelton::Error, SystemCallError => problem
        error.puts("pelton serve: #{problem.message.sub(/ @ \w+/, "")}") # Ruby adds its function's name
        1
      end

      # @param environment [Hash{String => String}]
      # @raise [OptionParser::ParseError]
      def initialize(arguments, environment: ENV)
        @settings = []
        @environment = Environment.new(environment)
        rest = parser.parse(arguments)
        return if @answer
        raise OptionParser::InvalidArgument, rest[1] if rest.size > 1
        set { rackup(rest.first) } if rest.any?
      end

      # @return [String, nil] the help or the version, if only that was asked for
      attr_reader :answer

      # Whether the command only checks whether it could serve.
      def check? = !!@check

      # The settings of the file, the environment and the flags. It sets RACK_ENV, too.
      #
      # @raise [ArgumentError, Configuration::Invalid]
      def configuration
        @configuration ||= Configuration.new.tap do |configuration|
          @environment.apply(configuration, file: @file)
          configuration.clear_binds if @binds
          @settings.each { |setting| configuration.instance_exec(&setting) }
          ENV["RACK_ENV"] = configuration.rack_env
        end
      end

      # @return [Array<String>] what is wrong and keeps nothing from serving
      def notes
        @environment.unknown.map { |name| "the environment variable #{name} is none of Pelton's, and has no effect" }
      end

      # @yieldparam launcher [Launcher]
      # @yieldparam configuration [Configuration]
      def serve(out)
        out.sync = true # the log must not wait in a buffer, also when it is a pipe
        Pelton.log_json if configuration.log_format == "json"
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
          options.on("-b", "--bind ADDRESS", "tcp://host:port, unix:///path?mode=660 or " \
            "ssl://host:port?cert=FILE&key=FILE; again for more") do |address|
            @binds = true
            set { bind(address) }
          end
          options.on("-p", "--port PORT", Integer, "listen there (#{Configuration::PORT}): on 127.0.0.1 in " \
            "development, otherwise on all addresses") do |port|
            @binds = true
            set { port(port) }
          end
          options.on("-C", "--config FILE", "settings in Ruby (#{Configuration::PLACES.join(" or ")}, if there is " \
            "one)") do |path|
            @file = path
          end
          SETTINGS.each do |setting|
            options.on(*setting.flags, "#{setting.text} (#{setting.shown_default})") do |value|
              set { public_send(setting.name, value) }
            end
          end
          options.on("--check", "say what would keep it from serving, and end: 0 when all is well, otherwise 1") do
            @check = true
          end
          options.on("-v", "--version", "print the version") { @answer = "pelton #{VERSION}" }
          options.on("-h", "--help", "print this") { @answer = options.help }
          options.separator("\nSettings may come from the environment, too: " \
            "PELTON_WORKERS=2, PELTON_BIND=tcp://0.0.0.0:80 ...; flags win over\n" \
            "variables, and variables over the file. " \
            "WEB_CONCURRENCY and PORT are used where neither says anything else.")
        end
      end
    end
  end
end
