# frozen_string_literal: true

require_relative "../pelton_gem"

Gem::Specification.new do |spec|
  spec.name = "pelton-rails"
  PeltonGem.describe(spec, "pelton-rails/", guide: "docs/start/rails.md")
  spec.summary = "What a Rails application needs to wait well on Pelton"
  spec.description = "Sets a Rails application up for Pelton: state by fiber, SQLite locks that park the fiber, a " \
    "cache store on Pelton's memcached client, jobs and asynchronous queries in fibers. In the Gemfile it is found " \
    "by itself."
  spec.files = Dir["lib/**/*", "sig/**/*.rbs", "README.md", "CHANGELOG.md", "LICENSE", base: __dir__]
    .select { |path| File.file?(File.join(__dir__, path)) }
  spec.add_dependency "pelton", PeltonGem::COMPATIBLE
  spec.add_dependency "activesupport", ">= 7.0", "< 9"
  spec.add_dependency "websocket-driver", "~> 0.8" # of Action Cable's sockets
end
