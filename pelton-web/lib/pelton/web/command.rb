# frozen_string_literal: true

require "optparse"
require_relative "../web"

module Pelton
  module Web
    # The command line, `pelton web COMMAND`.
    class Command
      USAGE = <<~TEXT
        usage: pelton web COMMAND [options]

          routes     list the routes of the application (--code: and the compiled methods)
          console    start irb with the application loaded

        options:
      TEXT

      # @return [Integer] the exit status: 0; 1 if the command failed; 2 if the arguments are wrong
      def self.run(arguments, out: $stdout, error: $stderr) = new(out, error).run(arguments)

      def initialize(out, error)
        @out = out
        @error = error
        @rackup = "config.ru"
      end

      def run(arguments)
        command, *rest = parser.parse(arguments)
        return help(0, @out) if @help
        unless %w[routes console].include?(command)
          return help(2, @error, command && "pelton web: no command #{command.inspect}")
        end
        return help(2, @error, "pelton web #{command}: unknown arguments: #{rest.join(" ")}") if rest.any?
        send(command)
        0
      rescue OptionParser::ParseError => problem
        help(2, @error, "pelton web: #{problem.message}")
      rescue Pelton::Error, SystemCallError, LoadError => problem
        @error.puts("pelton web: #{problem.message}")
        1
      end

      private

      def parser
        @parser ||= OptionParser.new(USAGE) do |options|
          options.on("-c", "--config FILE", "the file that runs the application; otherwise #{@rackup}") do |file|
            @rackup = file
          end
          options.on("--code", "show the code of the router and of each action, as they are compiled") { @code = true }
          options.on("-h", "--help", "show this") { @help = true }
        end
      end

      def help(status, to, complaint = nil)
        to.puts(complaint, "") if complaint
        to.puts(parser.help)
        status
      end

      # @return [Class] the application that the file runs; if there are several, the last one defined
      def application
        unless File.file?(@rackup)
          raise ConfigurationError,
            "there is no #{@rackup}: call this in the folder of the application, or give --config"
        end
        require "rack/builder"
        before = Application.subclasses
        Rack::Builder.parse_file(File.expand_path(@rackup))
        (Application.subclasses - before).first || raise(ConfigurationError,
          "#{@rackup} defines no Pelton::Web::Application")
      end

      def routes
        app = application
        app.boot!
        rows = app.routes.list.map do |route|
          [route.verb || "all", route.to_s, target(route.target), route.name && "#{route.name}_path"]
        end
        rows += app.routes.mounts.map do |mount|
          ["mount", mount.path.empty? ? "/" : mount.path, target(mount.app), nil]
        end
        widths = rows.transpose.map { |column| column.map { |text| text.to_s.size }.max }
        rows.each { |row| @out.puts(row.zip(widths).map { |text, width| text.to_s.ljust(width) }.join("  ").rstrip) }
        show_code(app) if @code
      end

      def console
        app = application
        app.boot!
        require_relative "development/console"
        Console.new(app).start
      end

      def target(target)
        case target
        when String then target
        when Routes::Route::Action
          "block at #{target.block.source_location.then { |file, line| "#{File.basename(file)}:#{line}" }}"
        when Module then target.name
        else target.class.name
        end
      end

      def show_code(app)
        @out.puts("", app.router.code)
        app.routes.list.map(&:target).grep(String).uniq.each do |target|
          controller, action = Controller.named(target)
          @out.puts("", "# #{target}", controller.code_of(action))
        end
      end
    end
  end
end
