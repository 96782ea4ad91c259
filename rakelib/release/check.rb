# frozen_string_literal: true

require "tmpdir"
require_relative "first_program"
require_relative "packages"

# Checks that the gems can be released: each is built, has its files, installs into an empty folder, and its README's
# first program prints there the output in the README.
class ReleaseCheck
  # The files that users of an installed gem need.
  KEPT = %w[lib ext exe sig stand_in examples README.md CHANGELOG.md LICENSE].freeze

  # @yieldparam line [String] a line for each completed step
  # @raise [Packages::Failed] at the first failure
  def run
    Dir.mktmpdir("pelton-release-") do |folder|
      packages = Packages.new(File.join(folder, "packages"))
      packages.build
      packages.take_dependencies
      Packages.specifications.each do |spec|
        complete(spec)
        packages.install(spec.name, home = File.join(folder, spec.name))
        try(spec, home)
        yield "#{spec.name} #{spec.version}: #{spec.files.size} files, " \
          "#{Dir["#{home}/gems/*"].map { |path| File.basename(path) }.join(", ")}; its first program runs"
      end
    end
  end

  # Checks that the gem's list has all of its files that git knows and that a user may require or read. READMEs of rooms
  # are for the repository.
  def complete(spec)
    kept = (spec.name == "pelton") ? KEPT - ["examples"] : KEPT # those of the repository use several gems
    tracked = IO.popen(["git", "-C", Packages.folder_of(spec), "ls-files", "-z", "--", *kept], &:read).split("\0")
    missing = tracked.grep_v(%r{./README\.md\z}) - spec.files
    fail_with("#{spec.name}.gemspec leaves out #{missing.join(", ")}") if missing.any?
  end

  # Runs the first program of the gem's README with the installed gem.
  def try(spec, home)
    program = FirstProgram.new(File.read(File.join(Packages.folder_of(spec), "README.md"), encoding: "UTF-8"))
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, program.file), program.code)
      output, status = Packages.run(home, *program.command, chdir: folder)
      fail_with("the first program of #{spec.name}'s README ends with #{status}:\n#{output}") unless status.success?
      unless program.prints?(output)
        fail_with("the first program of #{spec.name}'s README prints something else:\n#{output}")
      end
    end
  end

  private

  def fail_with(message) = raise(Packages::Failed, message)
end
