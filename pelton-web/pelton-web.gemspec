# frozen_string_literal: true

require_relative "../pelton_gem"

Gem::Specification.new do |spec|
  spec.name = "pelton-web"
  PeltonGem.describe(spec, "pelton-web/", guide: "docs/start/web.md")
  spec.summary = "A small web framework whose requests may wait"
  spec.description = "Routes, controllers, templates, sessions and streamed responses on Rack. Each request is a " \
    "fiber: it may wait for a database or another service without holding up anybody else."
  spec.files = Dir["{lib,examples}/**/*", "sig/**/*.{rbs,yaml}", "README.md", "CHANGELOG.md", "LICENSE", base: __dir__]
    .select { |path| File.file?(File.join(__dir__, path)) }
  spec.add_dependency "pelton", PeltonGem::COMPATIBLE
  spec.add_dependency "erubi", "~> 1.12"
  spec.add_dependency "mustermann", "~> 3.0"
  spec.add_dependency "rack", "~> 3.1"
  spec.add_dependency "tilt", "~> 2.3"
  spec.add_dependency "zeitwerk", "~> 2.6"
end
