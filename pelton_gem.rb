# frozen_string_literal: true

require_relative "lib/pelton/version"

# The part of a gemspec that all gems of this repository have in common. They have one version.
module PeltonGem
  REPOSITORY = "https://github.com/pelton-rb/pelton"

  # The versions of another gem of this repository that a gem may be installed with.
  COMPATIBLE = "~> #{Pelton::VERSION[/\A\d+\.\d+/]}".freeze

  # @param folder [String] of the gem in the repository, with a slash at its end; empty for the gem at its root
  # @param guide [String] the document to begin with
  def self.describe(spec, folder, guide:)
    spec.version = Pelton::VERSION
    spec.authors = ["The Pelton team"]
    spec.license = "MIT"
    spec.homepage = REPOSITORY
    spec.required_ruby_version = ">= 3.1"
    spec.metadata = {
      "homepage_uri" => REPOSITORY,
      "source_code_uri" => "#{REPOSITORY}/tree/v#{Pelton::VERSION}/#{folder}".chomp("/"),
      "changelog_uri" => "#{REPOSITORY}/blob/main/#{folder}CHANGELOG.md",
      "documentation_uri" => "#{REPOSITORY}/blob/main/#{guide}",
      "bug_tracker_uri" => "#{REPOSITORY}/issues",
      "rubygems_mfa_required" => "true"
    }
    spec.require_paths = ["lib"]
  end
end
