# frozen_string_literal: true

require_relative "../pelton_gem"

Gem::Specification.new do |spec|
  spec.name = "pelton-sequel"
  PeltonGem.describe(spec, "pelton-sequel/", guide: "docs/guides/sequel.md")
  spec.summary = "Sequel beside an event loop"
  spec.description = "Extensions, plugins and an adapter for Sequel: SQLite that lets other fibers run, a connection " \
    "pool with order, holders and " \
    "deadlines, queries that are cancelled at the server, statistics, finds of concurrent fibers in one query, " \
    "associations that load together, keyset pages, migrations by `pelton db`."
  spec.files = Dir["lib/**/*.rb", "sig/**/*.rbs", "README.md", "CHANGELOG.md", "LICENSE", base: __dir__]
  spec.add_dependency "pelton", PeltonGem::COMPATIBLE
  spec.add_dependency "sequel", "~> 5.90"
  spec.add_dependency "extralite-bundle", "~> 2.10" # SQLite, with its source: needs no package of the system
end
