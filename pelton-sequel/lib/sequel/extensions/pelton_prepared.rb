# frozen_string_literal: true

require "pelton/sequel/driver/prepared"

module Sequel
  # For PostgreSQL: prepares repeated queries by name, at most 200 per connection. Sequel's extension
  # pg_auto_parameterize turns values into parameters.
  #
  #     DB.extension(:pelton_prepared)
  Database.register_extension(:pelton_prepared) do |database|
    database.extension(:pg_auto_parameterize, :pg_auto_parameterize_in_array) # a list is one value, whatever its length
    database.extend(Pelton::Sequel::Prepared)
  end
end
