# frozen_string_literal: true

require_relative "support/sequel_databases"

class DatabaseMetricsTest < PeltonTest
  include SequelDatabases

  def test_the_pools_by_opentelemetry_s_names
    connect.get(1)
    connect
    text = Pelton::Metrics.text(Pelton::Metrics.families, {{worker: 0} => Pelton::Metrics.stats})
    labels = %(worker="0",db_client_connection_pool_name="sqlite::memory:")

    assert_includes text,
      %(db_client_connection_count{worker="0",db_client_connection_state="idle",) +
        %(db_client_connection_pool_name="sqlite::memory:"} 2\n)
    assert_includes text, %(db_client_connection_timeouts_total{#{labels}} 0\n)
    assert_match(/^db_client_connection_create_time_seconds_count\{#{labels}\} 2$/, text)
    assert_match(/^db_client_operation_duration_seconds_count\{worker="0"\} [1-9]/, text)
    assert_match(/^# TYPE db_client_connection_wait_time_seconds histogram$/, text)
  end

  def test_each_pool_has_its_name
    first, second = Array.new(2) { |i| connect("#{sqlite_file}#{i}", pool: 3 + i).driver.name }
    pools = Pelton::Sequel::Metrics.of(@connected).fetch("db_client_connection_max")

    assert_equal({first => 1, "#{first} read_only" => 3, second => 1, "#{second} read_only" => 4}, pools)
  end
end
