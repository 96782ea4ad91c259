# frozen_string_literal: true

require "test_helper"
require_relative "../support/sequel_databases"

# Those of Pelton's pool are in database/statistics_test.rb.
class PeltonStatisticsExtensionTest < PeltonTest
  def test_any_database_counts
    database = Sequel.mock(keep_reference: false)
    database.extension(:pelton_statistics)
    seen = []
    database.on_query { |sql, _, error| seen << [sql, error] }
    database.get(1)

    assert_equal [["SELECT 1 AS v LIMIT 1", nil]], seen
    assert_equal [%i[queries errors merged query_time], 1], [database.stats.keys, database.stats[:queries]]
  ensure
    Pelton::Database::Metrics.delete(database)
  end
end
