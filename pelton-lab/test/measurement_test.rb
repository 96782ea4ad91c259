# frozen_string_literal: true

require "test_helper"
require "pelton/lab/measurement"

class LabMeasurementTest < PeltonTest
  def setup
    @measurement = Pelton::Lab::Measurement.new(user: 0.5, system: 0.25, real: 2.0, operations: 1000, rss_kb: 2048,
      records: {gap_ms: 12.5})
  end

  def test_metrics
    assert_in_delta 0.75, @measurement[:cpu]
    assert_in_delta 2000, @measurement[:us_per_operation]
    assert_in_delta 750, @measurement[:cpu_us_per_operation]
    assert_in_delta 0.75, @measurement[:cpu_ms_per_operation]
    assert_in_delta 2, @measurement[:rss_mb]
  end

  def test_records_go_by_their_names
    assert_in_delta 12.5, @measurement[:gap_ms]
    assert_in_delta 12.5, @measurement.to_h[:gap_ms]
  end

  def test_another_name_has_no_value
    assert_nil @measurement[:parts]
    assert_nil @measurement[:none]
  end

  def test_memory_that_the_system_does_not_report_is_nil
    assert_nil Pelton::Lab::Measurement.new(user: 0, system: 0, real: 1, operations: 1)[:rss_mb]
  end

  def test_its_parts_make_it_again
    again = Pelton::Lab::Measurement.new(**@measurement.parts)

    assert_equal @measurement.to_h, again.to_h
  end
end
