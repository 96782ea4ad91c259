# frozen_string_literal: true

require "fileutils"
require "optparse"
require "pelton"

module Pelton
  module Web
    # `pelton new APP`: writes a small application that runs and passes its tests at once. It never overwrites anything.
    # @private
    class Generator
      USAGE = <<~TEXT
        usage: pelton new APP [options]

        Writes a web application into the new folder APP: routes, a controller, a model on SQLite, a live page, tests.
        APP is a name in lower case such as shop or photo_album.

      TEXT

      FOLDER = File.expand_path("generator", __dir__)
      NAME = /\A[a-z][a-z0-9]*(?:_[a-z0-9]+)*\z/
      LONGEST = 50
      # Names that the files of the application define.
      TAKEN = %w[Application ApplicationController ApplicationHelper ApplicationTest Live Message MessagesController MessagesTest Background BACKGROUND Test Config Public].freeze
      private_constant :FOLDER, :NAME, :LONGEST, :TAKEN

      # The application cannot be written.
      class Refused < Pelton::Error
      end

      # @param arguments [Array<String>]
      # @return [Integer] the exit status: 0, 1 when the application cannot be written, 2 when the arguments are wrong
      def self.run(arguments, out: $stdout, error: $stderr)
        gems = nil
        parser = OptionParser.new(USAGE) do |options|
          options.on("--gems FOLDER", "a checkout of Pelton whose gems the application uses") { |folder| gems = folder }
          options.on("-h", "--help", "show this") { out.puts(options) || (return 0) }
        end
        name, *rest = parser.parse(arguments)
        return error.puts(parser) || 2 if name.nil? || rest.any?
        new(name, gems: gems).write
        out.puts("#{name}/ is written. What now: cd #{name}; bundle install; bundle exec rake. Its README says how to start it.")
        0
      rescue OptionParser::ParseError => problem
        error.puts("pelton new: #{problem.message}", "", USAGE)
        2
      rescue Refused, SystemCallError => problem
        error.puts("pelton new: #{problem.message}")
        1
      end

      # @return [Array<String>] the files of an application, in their order
      def self.files = Dir["**/*.tt", base: FOLDER].map { |path| path.delete_suffix(".tt").sub(/\Agitignore\z/, ".gitignore") }.sort

      # @param name [String] also the name of the folder
      # @param folder [String] in which it is made
      # @param gems [String, nil] a checkout of Pelton; nil: the released gems
      # @raise [Refused] the name cannot be one
      def initialize(name, folder: Dir.pwd, gems: nil)
        @name = name
        @target = File.join(folder, name)
        @gems = gems && File.expand_path(gems)
        check
      end

      # @return [String] the application's class: PhotoAlbum for photo_album
      def module_name = @name.split("_").map(&:capitalize).join

      # @return [Array<String>] the files that were written
      # @raise [Refused] there is something of that name already
      # @raise [SystemCallError] it cannot be written
      def write
        Dir.mkdir(@target)
        Generator.files.each { |path| write_file(path) }
      rescue Errno::EEXIST
        raise Refused, "#{@target} is there already: choose another name, or remove it"
      end

      private

      def check
        raise Refused, "#{@name[0, 60].inspect} cannot be the name of an application: use lower case letters, digits and single _, as in photo_album" unless NAME.match?(@name)
        raise Refused, "the name may have #{LONGEST} characters at most" if @name.size > LONGEST
        raise Refused, "#{module_name} is the name of something else in Ruby or in the application: choose another" if TAKEN.include?(module_name) || Object.const_defined?(module_name)
        raise Refused, "there is no pelton-web in #{@gems}" unless @gems.nil? || File.directory?(File.join(@gems, "pelton-web"))
      end

      def write_file(path)
        file = File.join(@target, path)
        FileUtils.mkdir_p(File.dirname(file))
        text = File.read(File.join(FOLDER, "#{path.delete_prefix(".")}.tt"), encoding: "UTF-8")
        File.open(file, File::WRONLY | File::CREAT | File::EXCL) { |output| output.write(text.gsub(/%\{(\w+)\}/) { values.fetch($1) }) }
        path
      end

      def values = @values ||= {"module" => module_name, "source" => Gem.sources.to_a.first, "gems" => gem_lines}

      def gem_lines
        ["pelton", "pelton-web", "pelton-record"].map do |gem|
          next "gem \"#{gem}\", \"~> #{VERSION}\"" unless @gems
          "gem \"#{gem}\", path: #{((gem == "pelton") ? @gems : File.join(@gems, gem)).inspect}"
        end.join("\n")
      end
    end
  end
end
