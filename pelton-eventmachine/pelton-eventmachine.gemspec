# frozen_string_literal: true

require_relative "../pelton_gem"

Gem::Specification.new do |spec|
  spec.name = "pelton-eventmachine"
  PeltonGem.describe(spec, "pelton-eventmachine/", guide: "docs/reference/eventmachine.md")
  spec.summary = "EventMachine's API on Pelton"
  spec.description = "Programs and gems that were written for EventMachine run on Pelton's loop as they are, and " \
    "their callbacks may wait."
  spec.files = Dir["{lib,stand_in}/**/*.rb", "sig/**/*.rbs", "README.md", "CHANGELOG.md", "LICENSE", base: __dir__]
  spec.add_dependency "pelton", PeltonGem::COMPATIBLE
  spec.add_dependency "ostruct", ">= 0.5" # no default gem of Ruby 4.0
end
