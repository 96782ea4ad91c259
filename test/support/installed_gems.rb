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
      FileUtils.mkdir(home)
      needed(gem).each { |name| FileUtils.cp_r(File.join(home(name), "."), home) } # each extension is compiled once
      packages.install(gem, home)
    end
  end

  # Runs a command with these gems.
  # @return [Array(String, Process::Status)] its output, errors included
  def self.run(gem, *command, **options) = Packages.run(home(gem), *command, **options)

  # The gems of this repository that it depends on.
  def self.needed(gem)
    dependencies = Packages.specifications.find { |spec| spec.name == gem }.runtime_dependencies.map(&:name)
    Packages.specifications.map(&:name) & dependencies
  end
  private_class_method :needed

  def self.folder
    @folder ||= Dir.mktmpdir("pelton-gems-").tap { |folder| Minitest.after_run { FileUtils.rm_rf(folder) } }
  end
  private_class_method :folder

  # With little optimization extensions compile in half the time: see test_gems in bin/setup.
  def self.packages
    @packages ||=
      Packages.new(File.join(folder, "packages"), make: ["ARCH_FLAG=-O1"]).tap(&:build).tap(&:take_dependencies)
  end
  private_class_method :packages
end
