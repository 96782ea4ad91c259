# frozen_string_literal: true

require_relative "../support/sequel_databases"

class PeltonPoolExtensionTest < PeltonTest
  include SequelDatabases

  # On an adapter that Pelton does not know.
  def test_it_takes_the_place_of_a_database_s_pool
    database = Sequel.mock(keep_reference: false, max_connections: 2, query_timeout: "5")
    before = database.pool
    database.extension(:pelton_pool)

    assert_equal :pelton, database.pool.pool_type
    assert_equal 2, database.pool.max_size
    assert_equal 5.0, database.query_timeout
    refute_same before, database.pool
    database.get(1)
    assert_equal 1, database.pool.size
    assert_equal "mock:///", database.driver.name
  end

  def test_a_server_for_reads_has_connections_of_its_own
    database = Sequel.mock(keep_reference: false, max_connections: 2, servers: {read_only: {}})
    database.extension(:pelton_pool)

    assert_equal({default: 2, read_only: 2}, database.pool.shards.transform_values(&:max))
  end
end
