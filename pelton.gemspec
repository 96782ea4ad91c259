# frozen_string_literal: true

require_relative "lib/pelton/version"

Gem::Specification.new do |spec|
  spec.name = "pelton"
  spec.version = Pelton::VERSION
  spec.authors = ["The Pelton team"]
  spec.summary = "An event-driven runtime that pays for being asynchronous only when an operation would have blocked"
  spec.description = "A reactor with a C core under Ruby's Fiber::Scheduler, with callbacks, Deferrables and direct style " \
    "on the same operation; memcached, client and server; HTTP/1.1, client and server for Rack; EventMachine's API; and a lab " \
    "that measures what async costs and gains."
  spec.license = "MIT"
  spec.required_ruby_version = ">= 3.1"
  spec.metadata["rubygems_mfa_required"] = "true"
  spec.files = Dir["lib/**/*.{rb,ru,js}", "eventmachine/lib/**/*.rb", "ext/**/*.{c,h,rb}", "exe/*", "sig/**/*.rbs", "docs/**/*.md", "examples/**/*.{rb,ru,md}", "README.md", "CHANGELOG.md", "LICENSE"]
  spec.bindir = "exe"
  spec.executables = ["pelton"]
  spec.extensions = ["ext/pelton/extconf.rb"]
  spec.require_paths = ["lib"]
end
