# frozen_string_literal: true

require "test_helper"
require_relative "support/record_databases"

class RecordMetricsTest < PeltonTest
  include RecordDatabases

  def test_the_pools_by_opentelemetry_s_names
    database = connect
    connect
    database.get(1)
    text = Pelton::Metrics.text(Pelton::Metrics.families, {{worker: 0} => Pelton::Metrics.stats})

    assert_includes text, %(db_client_connection_count{worker="0",state="idle"} #{Pelton::Record.databases.size}\n)
    assert_match(/^db_client_connection_timeouts_total\{worker="0"\} 0$/, text)
    assert_match(/^db_client_operation_duration_seconds_count\{worker="0"\} [1-9]/, text)
    assert_match(/^# TYPE db_client_connection_wait_time_seconds histogram$/, text)
  end
end
