# frozen_string_literal: true

# The database's address. `pelton db` reads this file, too.
environment = ENV.fetch("RACK_ENV", "development")
Pelton::Sequel.address =
  ENV.fetch("DATABASE_URL") { "sqlite://#{File.expand_path("../db", __dir__)}/#{environment}.sqlite3" }
