# frozen_string_literal: true

require "pelton/database/driver/prepared"

module Sequel
  # PostgreSQL: queries that come again are prepared by name at the server, 200 at most on each connection. Values become parameters by Sequel's
  # extension pg_auto_parameterize.
  #
  #     DB.extension(:pelton_prepared)
  Database.register_extension(:pelton_prepared) do |database|
    database.extension(:pg_auto_parameterize, :pg_auto_parameterize_in_array) # lists are one value, however long they are
    database.extend(Pelton::Database::Prepared)
  end
end
