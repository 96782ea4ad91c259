# frozen_string_literal: true

require "test_helper"
require "pelton/sequel"

# On a server: integration/alone_test.rb and integration/prepared_test.rb.
class PeltonPreparedExtensionTest < PeltonTest
  def test_values_become_parameters
    database = Sequel.mock(host: "postgres", keep_reference: false)
    database.extension(:pelton_prepared)

    assert_kind_of Pelton::Sequel::Prepared, database
    assert_equal "SELECT * FROM \"a\" WHERE (\"b\" = $1)", database[:a].where(b: "x").sql
  end
end
