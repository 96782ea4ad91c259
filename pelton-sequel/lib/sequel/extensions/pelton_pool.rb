# frozen_string_literal: true

require "pelton/sequel"

module Sequel
  # Replaces a database's pool by one for fibers and threads. Waiters are served in order and time out with an error
  # that names the holders. A query interrupted by a time limit or a cancellation is cancelled at the server.
  # `query_timeout=` limits each query.
  #
  #     DB = Sequel.connect("postgres://localhost/app", max_connections: 10, query_timeout: 5, leak_after: 30)
  #     DB.extension(:pelton_pool)
  Database.register_extension(:pelton_pool) { |database| Pelton::Sequel::Pool.install(database) }
end
