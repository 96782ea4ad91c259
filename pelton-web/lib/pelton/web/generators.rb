# frozen_string_literal: true

require "optparse"
require "pelton"

module Pelton
  module Web
    # `pelton generate KIND`: writes files into an application of `pelton new`, which owns them from then on.
    module Generators
      # Raised if the files cannot be written.
      class Refused < Pelton::Error
      end
    end
  end
end

require_relative "generators/template"
require_relative "generators/files"
require_relative "generators/name"
require_relative "generators/field"
require_relative "generators/generator"
require_relative "generators/channel"
require_relative "generators/controller"
require_relative "generators/migration"
require_relative "generators/model"
require_relative "generators/authentication"

module Pelton
  module Web
    module Generators
      KINDS = {"controller" => Controller, "channel" => Channel, "model" => Model, "migration" => Migration,
               "authentication" => Authentication}.freeze
      USAGE = <<~TEXT.freeze
        usage: pelton generate KIND [NAME] [...] [options]

        #{KINDS.map { |kind, generator| "  #{kind.ljust(14)}  #{generator::SUMMARY}" }.join("\n")}

        Call it in the folder of the application. pelton generate KIND --help says more. The options of all kinds:

      TEXT
      private_constant :KINDS, :USAGE

      class << self
        # The command `pelton generate`.
        #
        # @param arguments [Array<String>]
        # @param root [String] the folder of the application
        # @return [Integer] the exit status: 0; 1 if the files cannot be written; 2 if the arguments are wrong
        def run(arguments, root: Dir.pwd, out: $stdout, error: $stderr, input: $stdin)
          kind, *rest = arguments
          return out.puts(parser(USAGE, {})) || 0 if %w[-h --help help].include?(kind)
          unless KINDS.key?(kind)
            return error.puts(*(kind && ["pelton generate: it cannot generate #{kind.inspect[0, 60]}", ""]),
              parser(USAGE, {})) || 2
          end
          generate(KINDS.fetch(kind), rest, root, out, error, input)
        end

        private

        def generate(generator, arguments, root, out, error, input)
          options = {}
          parser = parser(generator::USAGE, options) { |more| generator.options(more, options) }
          names = parser.parse(arguments)
          return out.puts(parser) || 0 if options[:help]
          return error.puts(parser) || 2 unless generator::ARGUMENTS.cover?(names.size)
          files = Files.new(root, conflict: options.fetch(:conflict, :ask), input: input, out: out,
            **options.slice(:pretend, :quiet))
          generator.new(files, *names, **options.except(:conflict, :pretend, :quiet)).write
          0
        rescue OptionParser::ParseError => problem
          error.puts("pelton generate: #{problem.message}", "", parser)
          2
        rescue Refused, SystemCallError => problem
          error.puts("pelton generate: #{problem.message}")
          1
        end

        def parser(usage, options)
          OptionParser.new(usage) do |parser|
            yield parser if block_given?
            parser.on("-f", "--force", "overwrite files that are there, without asking") { options[:conflict] = :force }
            parser.on("-s", "--skip", "leave files that are there as they are, without asking") do
              options[:conflict] = :skip
            end
            parser.on("-p", "--pretend", "say what would be done, and write nothing") { options[:pretend] = true }
            parser.on("-q", "--quiet", "say nothing") { options[:quiet] = true }
            parser.on("-h", "--help", "show this") { options[:help] = true }
          end
        end
      end
    end
  end
end
