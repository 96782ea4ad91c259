# frozen_string_literal: true

require "etc"
require "fileutils"
require "open3"
require "rbconfig"
require "rubygems/package"

# The gems of this repository, built into a folder, and installed from there with nothing but their declared
# dependencies.
class Packages
  class Failed < StandardError; end

  ROOT = File.expand_path("../..", __dir__)

  # @return [Array<Gem::Specification>] each gem after its dependencies
  def self.specifications
    Dir["{,pelton-*/}pelton*.gemspec", base: ROOT].map { |path| Gem::Specification.load(File.join(ROOT, path)) }
      .sort_by { |spec| spec.runtime_dependencies.count { |one| one.name.start_with?("pelton") } }
  end

  def self.folder_of(spec) = File.dirname(spec.loaded_from)

  # @param folder [String] for the packages; made where it is missing
  # @param make [Array<String>] variables of make, for extensions
  def initialize(folder, make: [])
    @folder = folder
    @make = {"MAKEFLAGS" => ["-j#{Etc.nprocessors}", *make].join(" ")}
  end

  # Builds all gems.
  # @return [Array<String>] their files, each after those that it depends on
  # @raise [Failed] with the output of `gem`
  def build
    FileUtils.mkdir_p(@folder)
    self.class.specifications.map do |spec|
      package(spec.name, spec.version).tap do |path|
        gem("build", File.basename(spec.loaded_from), "--output", path, chdir: self.class.folder_of(spec))
      end
    end
  end

  # Takes the dependencies of all gems from RubyGems' cache, or from the registry.
  # @raise [Failed] with the output of `gem`
  def take_dependencies = take(self.class.specifications.flat_map(&:runtime_dependencies))

  # @param home [String] the folder of gems; it need not be there
  # @raise [Failed] also when the gem needs one that it does not declare
  def install(name, home)
    spec = self.class.specifications.find { |one| one.name == name }
    gem("install", "--local", "--no-document", "--install-dir", home, package(name, spec.version), chdir: @folder,
      environment: @make)
  end

  # Runs a command with the gems of a home alone, and its programs before others.
  # @return [Array(String, Process::Status)] its output, errors included
  def self.run(home, *command, chdir:, environment: {})
    environment = {"GEM_HOME" => home, "GEM_PATH" => home, "PATH" => "#{home}/bin:#{ENV["PATH"]}", "RUBYLIB" => nil,
                   "RUBYOPT" => nil, **environment}
    unbundled { Open3.capture2e(environment, *command, chdir: chdir) }
  end

  def self.unbundled(&block) = defined?(Bundler) ? Bundler.with_unbundled_env(&block) : yield

  private

  def package(name, version) = File.expand_path(File.join(@folder, "#{name}-#{version}.gem"))

  # Takes the gems of other projects, and what they depend on themselves.
  def take(dependencies, taken = [])
    dependencies.reject { |one| one.name.start_with?("pelton") || taken.include?(one.name) }
      .uniq(&:name).each do |dependency|
      fetch(dependency)
      taken << dependency.name
      path = Dir[File.join(@folder, "#{dependency.name}-[0-9]*.gem")].first
      take(Gem::Package.new(path).spec.runtime_dependencies, taken)
    end
  end

  def fetch(dependency)
    cached = Gem.path.flat_map { |path| Dir[File.join(path, "cache/#{dependency.name}-[0-9]*.gem")] }
      .select { |path| dependency.requirement.satisfied_by?(Gem::Version.new(path[/-(\d[\w.]*)\.gem\z/, 1])) }
    if cached.any?
      return FileUtils.cp(cached.max_by { |path| Gem::Version.new(path[/-(\d[\w.]*)\.gem\z/, 1]) }, @folder)
    end
    gem("fetch", dependency.name, "--version", dependency.requirement.to_s, chdir: @folder)
  end

  def gem(*arguments, chdir:, environment: {})
    output, status = self.class.unbundled do
      Open3.capture2e({"RUBYOPT" => nil, **environment}, RbConfig.ruby, "-S", "gem", *arguments, chdir: chdir)
    end
    raise Failed, "gem #{arguments.join(" ")}\n#{output}" unless status.success?
  end
end
