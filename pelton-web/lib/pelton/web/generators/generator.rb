# frozen_string_literal: true

module Pelton
  module Web
    module Generators
      # The base class of generators. A subclass has the constants SUMMARY (a line), USAGE and ARGUMENTS (their number),
      # and {#write}.
      # @private
      class Generator
        CONFIGURATION = "config/application.rb"
        # Names that an application's other files define.
        TAKEN = %w[Application ApplicationController ApplicationHelper ApplicationTest BACKGROUND].freeze
        ACTION = /\A[a-z][a-z0-9_]*\z/
        private_constant :CONFIGURATION, :TAKEN, :ACTION

        # Adds a generator's options to the command line.
        def self.options(parser, options)
        end

        # @return [String] the application's class
        attr_reader :application

        # @raise [Refused] if the folder contains no application
        def initialize(files)
          @files = files
          @application = files.read(CONFIGURATION).to_s[/^\s*class (\w+) < Pelton::Web::Application/, 1] ||
            raise(Refused, "this is not the folder of an application: #{CONFIGURATION} defines no " \
              "Pelton::Web::Application. Change to the folder that pelton new made")
        end

        private

        def write_template(template, path) = @files.write(path, Template.render(template, self))

        def database? = @files.read(CONFIGURATION).match?(/^\s*require ["']pelton.sequel["']/)

        # @raise [Refused] if the application has no database
        def need_database
          return if database?
          raise Refused, "the application has no models: add gem \"pelton-sequel\" to its Gemfile, and require and " \
            "connect it in #{CONFIGURATION}"
        end

        # @raise [Refused] if something else defines it
        def check_constant(name, path)
          return if @files.read(path) # Files asks when it is written
          return unless [application, *TAKEN].include?(name) || Object.const_defined?(name.split("::").first)
          raise Refused, "#{name} is the name of something else in Ruby or in the application: choose another"
        end

        # @param taken [#include?] methods of all `kind`
        # @raise [Refused] if an action cannot be a method
        def check_actions(actions, taken, kind)
          wrong = actions.find { |action| !ACTION.match?(action) || taken.include?(action) }
          if wrong
            raise Refused,
              "#{wrong.inspect[0, 60]} cannot be an action: it is no name, or the name of a method of all #{kind}"
          end
        end

        # Returns a class inside its modules or classes, as indented lines.
        def nested(name, line, body)
          [*name.namespaces.map { |part| "module #{Name.camel(part)}" },
            line].each_with_index.map { |text, depth| "  " * depth + text }.join("\n") +
            "\n" + body.gsub(
              /^(?=.)/, "  " * (name.namespaces.size + 1)
            ) + name.parts.each_index.map { |depth| "#{"  " * depth}end\n" }.reverse.join
        end
      end
    end
  end
end
