# frozen_string_literal: true

require "digest"
require "fileutils"
require "rbconfig"
require "tmpdir"
require_relative "../installation"
require_relative "programs"

module Pelton
  module Lab
    # Rails applications that others wrote, engines in a small application of the lab: their gems, which `bin/setup lab`
    # installs, and how they are filled and start. RUBY=/path/to/bin/ruby has another Ruby than the lab's run them.
    class RailsEngines
      # The checkout's folder of their gems; a file for each Ruby there is the Gemfile.
      FOLDER = File.expand_path("../../../../../tmp/rails_engines", __dir__)
      # What Bundler has set for the lab's own process, and the load path of its Ruby.
      OTHERS = /\A(BUNDLE_|BUNDLER_|GEM_|RUBYOPT\z|RUBYLIB\z)/

      # @param ruby [String] the path of the Ruby that runs them
      def initialize(ruby = ENV["RUBY"] || RbConfig.ruby)
        @ruby = ruby
      end

      # The reason why they cannot run here, or nil.
      def unavailable
        return "#{@ruby} does not run" unless version
        return if (@missing ||= [missing]).first.nil?
        "the gems of the engines are not installed for Ruby #{version} (#{@missing.first}): with a network, run " \
        "bin/setup lab"
      end

      # @return [String, nil] of Ruby
      def version = abi && @version

      # What the environment of a program must have to load their gems.
      # @return [Hash{String => String, nil}]
      def environment
        ENV.keys.grep(OTHERS).to_h { |name| [name, nil] }.merge(
          "BUNDLE_GEMFILE" => gemfile, "BUNDLE_PATH" => FOLDER, "BUNDLE_APP_CONFIG" => File.join(FOLDER,
            "none"), "RUBYOPT" => "-rbundler/setup", "RUBYLIB" => libraries,
          "RAILS_ENV" => "production", "EXECJS_RUNTIME" => "Disabled" # nothing compiles JavaScript
        )
      end

      # Creates the tables of an application and its rows. A file of SQLite is made once and copied.
      # @param name [String] of the application: forum or site
      # @param address [String] of the database, as Rails takes it
      # @raise [RuntimeError] when that fails
      def fill(name, address)
        file = address[/\Asqlite3:(.+)/, 1] or return run_rows(name, address)
        FileUtils.cp(seeds(name), file)
      end

      # @return [String] the path of an application's rackup file
      def application(name) = File.join(folder, "#{name}.ru")

      # The same command for their Ruby.
      # @param command [#call] of {WebPrograms}
      def command(command)
        words = {RbConfig.ruby => @ruby, Installation::LIBRARIES => libraries}
        ->(port, folder) { command.call(port, folder).map { |word| words.fetch(word, word) } }
      end

      private

      # @return [String] the path of a filled database, which is the same until a file or a gem changes
      def seeds(name)
        made_by =
          [gemfile + ".lock", *Dir[File.join(folder, "{host.rb,#{name}/**/*}")].sort.select { |path| File.file?(path) }]
        digest = Digest::SHA256.hexdigest(made_by.map { |file| File.read(file) }.join)
        path = File.join(Dir.tmpdir, "pelton-lab-#{name}-#{digest[0, 16]}.sqlite3")
        return path if File.exist?(path)
        Dir.mktmpdir do |made|
          run_rows(name, "sqlite3:#{made}/app.db")
          FileUtils.mv("#{made}/app.db", path)
        end
        path
      end

      def run_rows(name, address)
        said = IO.popen({**environment, "DATABASE" => address, "POOL" => "5"},
          [@ruby, File.join(folder, name, "rows.rb")], err: %i[child out], &:read)
        raise "#{name} has no data: #{said.scrub.lines.map(&:strip).reject(&:empty?).last}" unless $?.success?
      end

      def folder = File.dirname(WebPrograms.application("rails_engines/forum"))

      def gemfile = File.join(FOLDER, "#{abi}.rb")

      # The part of the names of folders that tells one Ruby's extensions from another's.
      def abi
        @abi ||= begin
          @version, abi = IO.popen(ENV.keys.grep(OTHERS).to_h { |name| [name, nil] },
            [@ruby, "-e", "puts RUBY_VERSION, RbConfig::CONFIG['ruby_version']"], &:read).split
          abi
        rescue SystemCallError
          nil
        end
      end

      # The lab's own, unless another Ruby needs another extension, which bin/lab compiles.
      def libraries
        return Installation::LIBRARIES if File.identical?(@ruby, RbConfig.ruby)
        own = File.expand_path("../../lib", Installation::COMMAND)
        Installation::LIBRARIES.split(File::PATH_SEPARATOR)
          .map { |path| (path == own) ? File.join(FOLDER, "pelton-#{abi}", "lib") : path }.join(File::PATH_SEPARATOR)
      end

      def missing
        return "there is no #{gemfile}" unless File.exist?(gemfile)
        said = IO.popen({**environment, "RUBYOPT" => nil}, [@ruby, "-S", "bundle", "check"], err: %i[child out], &:read)
        said.scrub.lines.map(&:strip).reject(&:empty?).first unless $?.success?
      end
    end
  end
end
