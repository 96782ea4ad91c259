# frozen_string_literal: true

require "pelton/database"

module Sequel
  # A pool for fibers and threads: those who wait are served in order and have a deadline, whose error names the holders; a query that a time
  # limit or a cancellation interrupts is cancelled at the server. `query_timeout=` limits each query.
  #
  #     DB = Sequel.connect("postgres://localhost/app", max_connections: 10, query_timeout: 5, leak_after: 30)
  #     DB.extension(:pelton_pool)
  Database.register_extension(:pelton_pool) { |database| Pelton::Database::Pool.install(database) }
end
