# frozen_string_literal: true

require_relative "../pelton_gem"

Gem::Specification.new do |spec|
  spec.name = "pelton-cable"
  PeltonGem.describe(spec, "pelton-cable/", guide: "docs/guides/cable.md")
  spec.summary = "Action Cable's protocol on an event loop"
  spec.description = "Channels for any Rack application: @rails/actioncable talks to it unchanged. A broadcast is encoded and compressed once for " \
    "thousands of sockets, in all workers, without another service."
  spec.files = Dir["lib/**/*.rb", "README.md", "CHANGELOG.md", "LICENSE", base: __dir__]
  spec.add_dependency "pelton", "= #{Pelton::VERSION}"
  spec.add_dependency "rack", ">= 2.2", "< 4"
  spec.add_dependency "websocket-driver", "~> 0.8"
end
