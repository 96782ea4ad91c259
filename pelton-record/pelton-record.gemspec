# frozen_string_literal: true

require_relative "../pelton_gem"

Gem::Specification.new do |spec|
  spec.name = "pelton-record"
  PeltonGem.describe(spec, "pelton-record/", guide: "docs/guides/sequel.md")
  spec.summary = "An ORM that does not block, on Sequel"
  spec.description = "ActiveRecord's vocabulary on Sequel's models, for PostgreSQL, MariaDB and SQLite. A query parks its fiber only, " \
    "associations of objects that were loaded together load together, and finds of concurrent fibers become one query."
  spec.files = Dir["lib/**/*.{rb,yml}", "sig/**/*.rbs", "README.md", "CHANGELOG.md", "LICENSE", base: __dir__]
  spec.add_dependency "pelton", PeltonGem::COMPATIBLE
  spec.add_dependency "sequel", "~> 5.90"
  spec.add_dependency "activemodel", ">= 7.1", "< 9"
  spec.add_dependency "pelton-sequel", PeltonGem::COMPATIBLE
end
