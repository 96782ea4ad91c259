# frozen_string_literal: true

require "fileutils"
require "tmpdir"

# Programs in processes of their own with the gems of a Gemfile, which need not be those of the tests. For PeltonTests.
module GemProgram
  # The gems of a Gemfile, which `bin/setup` brings.
  class Gems
    ROOT = File.expand_path("../..", __dir__)
    private_constant :ROOT

    # @return [Hash{String => String}] the variables of a program with these gems
    attr_reader :environment

    # @return [String] why a test is skipped that needs these gems
    attr_reader :missing

    # @param gemfile [String] its path in the repository
    # @param folder [String] where the gems are, in the repository
    # @param environment [Hash] more variables
    def initialize(gemfile, folder:, environment: {}, missing: "bin/setup downstream brings the gems of #{gemfile}")
      @missing = missing
      @environment = {"BUNDLE_GEMFILE" => File.expand_path(gemfile, ROOT),
                      "BUNDLE_PATH" => File.expand_path(folder, ROOT),
                      "BUNDLE_SILENCE_ROOT_WARNING" => "1", **environment}.freeze
    end

    # Asks Bundler once. Without the lock, which `bin/setup` leaves, it would choose among the gems that it finds.
    def installed?
      return @installed if defined?(@installed)
      @installed = File.exist?("#{environment["BUNDLE_GEMFILE"]}.lock") &&
        system(whole_environment, "bundle", "check", unsetenv_others: true, out: File::NULL, err: File::NULL)
    end

    # @return [Hash{String => String}] the whole environment of a command with these gems, for `unsetenv_others: true`
    def whole_environment = (defined?(Bundler) ? Bundler.unbundled_env : ENV.to_h).merge(environment)
  end

  # Skips the test where the gems are missing.
  #
  # @param gems [Gems]
  def needs_gems(gems) = gems.installed? || skip(gems.missing)

  # @param code [String] runs in an empty folder
  # @param arguments [Array] the program's ARGV
  # @param files [Hash{String => String}] that are in the folder when it runs, by path
  # @param env [Hash{String => String}] variables besides those of the gems
  # @return [String] what it has printed; the test fails when the program does
  def program_output(gems, code, *arguments, files: {}, env: {}, deadline: 60)
    needs_gems(gems)
    Dir.mktmpdir do |folder|
      files.each do |path, text|
        FileUtils.mkdir_p(File.dirname(File.join(folder, path)))
        File.write(File.join(folder, path), text)
      end
      ruby_output("Dir.chdir(ARGV.shift)\n#{code}", folder, *arguments, env: gems.environment.merge(env), gems: true,
        deadline: deadline)
    end
  end
end
