# frozen_string_literal: true

require_relative "../pelton_gem"

Gem::Specification.new do |spec|
  spec.name = "pelton-lab"
  PeltonGem.describe(spec, "pelton-lab/", guide: "docs/guides/lab.md")
  spec.summary = "Measures what asynchronous code costs and gains, on your machine and for your workload"
  spec.description = "The command `pelton lab`: blocking and asynchronous contenders beside each other, each round " \
    "in a fresh process, " \
    "answers checked, and a report with pictures. With experiments on memcached, HTTP and waiting, and room for your " \
    "own."
  spec.files =
    Dir["lib/**/*.{rb,ru,js,erb,yml}", "examples/**/*.{rb,ru,md}", "README.md", "CHANGELOG.md", "LICENSE",
      base: __dir__]
  spec.add_dependency "pelton", PeltonGem::COMPATIBLE
  spec.add_dependency "pelton-eventmachine", PeltonGem::COMPATIBLE # some contenders are EventMachine programs
  spec.add_dependency "pelton-sequel", PeltonGem::COMPATIBLE # the contender of the experiment "models"
  spec.add_dependency "pelton-web", PeltonGem::COMPATIBLE
  spec.add_dependency "websocket-driver", "~> 0.8" # of the experiment "cable"
  spec.add_dependency "benchmark", ">= 0.2" # of the articles' programs; no default gem of Ruby 4.0
end
