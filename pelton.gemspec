# frozen_string_literal: true

require_relative "pelton_gem"

Gem::Specification.new do |spec|
  spec.name = "pelton"
  PeltonGem.describe(spec, "", guide: "README.md")
  spec.summary = "An event-driven runtime that pays for being asynchronous only when an operation would have blocked"
  spec.description = "A reactor with a C core under Ruby's Fiber::Scheduler, with callbacks, Deferrables and direct " \
    "style on the same operation; memcached, client and server; HTTP/1.1, client and server for Rack."
  spec.files =
    Dir["lib/**/*.{rb,js}", "ext/**/*.{c,h,rb}", "exe/*", "sig/**/*.{rbs,yaml}", "README.md", "CHANGELOG.md", "LICENSE",
      base: __dir__]
  spec.bindir = "exe"
  spec.executables = ["pelton"]
  spec.extensions = ["ext/pelton/extconf.rb"]
  # Only `pelton serve` loads it. Rack 1 is for EventMachine's programs, which often have an older one.
  spec.add_dependency "rack", ">= 1.6", "< 4"
  spec.add_dependency "logger", ">= 1.4" # no default gem of Ruby 4.0
end
