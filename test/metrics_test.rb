# frozen_string_literal: true

require_relative "test_helper"
require "pelton/metrics"

class MetricsTest < PeltonTest
  Family = Pelton::Metrics::Family

  FAMILIES = {
    "requests" => Family.new("counter", "x_requests_total", "All of them."),
    "codes" => Family.new("counter", "x_codes_total", "By code.", :code),
    "times" => Family.new("histogram", "x_seconds", "How long.")
  }.freeze

  def test_a_family_is_described_once_and_has_a_line_for_each_row
    text = Pelton::Metrics.text(FAMILIES, {{worker: 0} => {"requests" => 3}, {worker: 1} => {"requests" => 4}})

    assert_equal <<~TEXT, text
      # HELP x_requests_total All of them.
      # TYPE x_requests_total counter
      x_requests_total{worker="0"} 3
      x_requests_total{worker="1"} 4
    TEXT
  end

  def test_a_metric_with_labels_of_its_own
    values = {{worker: 0} => {"codes" => {"2xx" => 1, "5xx" => 0}}}
    assert_equal <<~TEXT.lines, Pelton::Metrics.text(FAMILIES, values).lines[2..]
      x_codes_total{worker="0",code="2xx"} 1
      x_codes_total{worker="0",code="5xx"} 0
    TEXT
  end

  def test_a_histogram
    assert_equal <<~TEXT, Pelton::Metrics.text(FAMILIES, {{} => {"times" => {"0.5" => 1, "+Inf" => 3, "sum" => 2.5}}})
      # HELP x_seconds How long.
      # TYPE x_seconds histogram
      x_seconds_bucket{le="0.5"} 1
      x_seconds_bucket{le="+Inf"} 3
      x_seconds_sum 2.5
      x_seconds_count 3
    TEXT
  end

  def test_several_labels_of_which_the_last_may_be_missing_or_contain_spaces
    families = {"times" => Family.new("histogram", "x_seconds", "How long.", %i[verb status route])}
    times = {"0.5" => 1, "+Inf" => 1, "sum" => 0.25}

    values = {{worker: 0} => {"times" => {"GET 200 /a \"b\"" => times, "PUT 404" => times}}}
    assert_equal <<~TEXT.lines, Pelton::Metrics.text(families, values).lines[2..]
      x_seconds_bucket{worker="0",verb="GET",status="200",route="/a \\"b\\"",le="0.5"} 1
      x_seconds_bucket{worker="0",verb="GET",status="200",route="/a \\"b\\"",le="+Inf"} 1
      x_seconds_sum{worker="0",verb="GET",status="200",route="/a \\"b\\""} 0.25
      x_seconds_count{worker="0",verb="GET",status="200",route="/a \\"b\\""} 1
      x_seconds_bucket{worker="0",verb="PUT",status="404",le="0.5"} 1
      x_seconds_bucket{worker="0",verb="PUT",status="404",le="+Inf"} 1
      x_seconds_sum{worker="0",verb="PUT",status="404"} 0.25
      x_seconds_count{worker="0",verb="PUT",status="404"} 1
    TEXT
  end

  def test_metrics_without_a_row_and_metrics_without_a_description_are_left_out
    assert_equal "", Pelton::Metrics.text(FAMILIES, {{} => {"others" => 1}, {a: 1} => {}})
  end

  def test_special_characters_are_escaped
    families = {"n" => Family.new("gauge", "n", "a\\b\nc\"d")}

    assert_equal "# HELP n a\\\\b\\nc\"d\n# TYPE n gauge\nn{l=\"a\\\\b\\nc\\\"d\"} 1\n",
      Pelton::Metrics.text(families, {{l: "a\\b\nc\"d"} => {"n" => 1}})
  end

  def test_what_other_code_adds
    source = Pelton::Metrics.add("jobs" => Family.new("gauge", "x_jobs", "Jobs.")) { {"jobs" => 3} }
    text = Pelton::Metrics.text(Pelton::Metrics.families, {{} => Pelton::Metrics.stats})

    assert_includes text, "x_jobs 3\n"
    Pelton::Metrics.remove(source)
    refute_includes Pelton::Metrics.families, "jobs"
    refute_includes Pelton::Metrics.stats, "jobs"
  end

  def test_adding_needs_a_block
    assert_raises(ArgumentError) { Pelton::Metrics.add({}) }
  end
end
