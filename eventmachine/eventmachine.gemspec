# frozen_string_literal: true

require_relative "../lib/pelton/version"

# EventMachine's name and version, for Gemfiles: gem "eventmachine", path: or git: of this repository. It is never
# published. What it loads is Pelton: its load path is stand_in/ of the gem pelton-eventmachine, the files with
# EventMachine's names.
Gem::Specification.new do |spec|
  spec.name = "eventmachine"
  spec.version = "1.2.7"
  spec.authors = ["The Pelton team"]
  spec.summary = "EventMachine's API on Pelton"
  spec.license = "MIT"
  spec.required_ruby_version = ">= 3.1"
  spec.metadata["rubygems_mfa_required"] = "true"
  spec.files = []
  spec.require_paths = ["../pelton-eventmachine/stand_in"]
  spec.add_dependency "pelton-eventmachine", "= #{Pelton::VERSION}"
end
