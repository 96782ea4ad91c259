# frozen_string_literal: true

require "open3"
require "yaml"

# Steep, in a bundle of its own, which `bin/setup types` installs.
module TypesSteep
  ROOT = File.expand_path("../..", __dir__)
  FOLDER = File.join(ROOT, "tmp/types_gems")
  # The folder of configuration does not exist: a checkout's own would put the gems elsewhere.
  GEMS = {"BUNDLE_GEMFILE" => File.join(ROOT, "gemfiles/types.rb"), "BUNDLE_PATH" => FOLDER,
          "BUNDLE_APP_CONFIG" => File.join(FOLDER, "none"), "BUNDLE_SILENCE_ROOT_WARNING" => "1"}.freeze
  SAVED = "found.yml"

  class << self
    def installed? = Dir.exist?(FOLDER) && run("bundle", "check", ROOT).last.success?

    # Checks the project in a folder.
    #
    # @return [Array<Hash>] what it has found, by file: errors and warnings
    # @raise [RuntimeError] if Steep has failed
    def check(folder)
      output, status = run("bundle", "exec", "steep", "check", "--jobs=1", "--save-expectations=#{SAVED}", folder)
      saved = File.join(folder, SAVED)
      raise "Steep has failed:\n#{output}" unless status.success? && File.exist?(saved)
      YAML.load_file(saved)
    end

    private

    # What it printed, and its status. Without the bundle of the program that calls this.
    def run(*command, folder)
      others = ENV.keys.grep(/\A(?:BUNDLE|RUBYOPT|RUBYLIB|GEM_PATH)/).to_h { |name| [name, nil] }
      Open3.capture2e(others.merge(GEMS), *command, chdir: folder)
    end
  end
end
