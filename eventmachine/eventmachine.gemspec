# frozen_string_literal: true

# EventMachine's name and version, for Gemfiles: gem "eventmachine", path: or git: of this repository. What it loads is
# Pelton.
Gem::Specification.new do |spec|
  spec.name = "eventmachine"
  spec.version = "1.2.7"
  spec.authors = ["The Pelton team"]
  spec.summary = "EventMachine's API on Pelton"
  spec.license = "MIT"
  spec.required_ruby_version = ">= 3.1"
  spec.metadata["rubygems_mfa_required"] = "true"
  spec.files = Dir["lib/**/*.rb", base: __dir__]
  spec.require_paths = ["lib"]
  spec.add_dependency "pelton"
end
