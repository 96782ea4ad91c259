# frozen_string_literal: true

require_relative "../support/sequel_databases"

# Those of Pelton's pool are in database/statistics_test.rb.
class PeltonStatisticsExtensionTest < PeltonTest
  def test_any_database_counts
    database = Sequel.mock(keep_reference: false)
    database.extension(:pelton_statistics)
    seen = []
    subscription = Pelton::Notifications.subscribe("query.sequel") { |event| seen << [event.payload, event.error] }
    database.get(1)

    assert_equal [[{database: database, sql: "SELECT 1 AS v LIMIT 1"}, nil]], seen
    assert_equal %i[queries errors merged query_time], database.stats.keys
    assert_equal 1, database.stats[:queries]
  ensure
    Pelton::Notifications.unsubscribe(subscription)
    Pelton::Sequel::Metrics.delete(database)
  end

  def test_a_query_counts_once_with_a_pool_that_came_later
    database = Sequel.mock(keep_reference: false)
    database.extension(:pelton_statistics, :pelton_pool)
    database.get(1)

    assert_equal 1, database.stats[:queries]
  ensure
    Pelton::Sequel::Metrics.delete(database)
  end
end
