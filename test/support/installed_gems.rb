# frozen_string_literal: true

require "fileutils"
require "minitest"
require "tmpdir"
require_relative "../../rakelib/release/packages"

# Pelton's gems as a user installs them: in an empty folder, with nothing but their declared dependencies.
module InstalledGems
  @homes = {}

  # @param gem [String] the gem to install; its dependencies are installed, too
  # @return [String] the folder of gems, for all tests of this process
  def self.home(gem)
    @homes[gem] ||= File.join(folder, gem).tap do |home|
      FileUtils.cp_r(home("pelton"), home) unless gem == "pelton" # the extension is compiled once
      packages.install(gem, home)
    end
  end

  # Runs a command with these gems.
  # @return [Array(String, Process::Status)] its output, errors included
  def self.run(gem, *command, **options) = Packages.run(home(gem), *command, **options)

  def self.folder
    @folder ||= Dir.mktmpdir("pelton-gems-").tap { |folder| Minitest.after_run { FileUtils.rm_rf(folder) } }
  end
  private_class_method :folder

  def self.packages = @packages ||= Packages.new(File.join(folder, "packages")).tap(&:build).tap(&:take_dependencies)
  private_class_method :packages
end
