# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/cluster"

class ClusterTotalsTest < PeltonTest
  One = Struct.new(:index, :stats) do
    def families = {"jobs" => Pelton::Metrics::Family.new("counter", "jobs_total")}
  end

  def setup
    @totals = Pelton::Cluster::Totals.new(%w[requests codes])
  end

  def test_stats_of_the_workers_that_serve_now
    assert_empty @totals.with([])
    assert_equal({0 => {"requests" => 1}, 1 => {"requests" => 2}},
      @totals.with([One.new(0, {"requests" => 1}), One.new(1, {"requests" => 2})]))
  end

  def test_the_old_and_the_new_worker_of_an_index_are_added
    all = [One.new(0, {"requests" => 5, "open" => 2}), One.new(0, {"requests" => 1, "open" => 3})]

    assert_equal({0 => {"requests" => 6, "open" => 5}}, @totals.with(all))
  end

  def test_counters_that_only_a_worker_knows_stay_too
    @totals.retire(One.new(0, {"jobs" => 2, "open" => 1}))

    assert_equal({0 => {"jobs" => 2}}, @totals.with([]))
  end

  def test_counters_of_ended_workers_stay_and_their_other_stats_go
    2.times { @totals.retire(One.new(0, {"requests" => 5, "open" => 2, "codes" => {"2xx" => 1, "5xx" => 2}})) }

    assert_equal({0 => {"requests" => 10, "codes" => {"2xx" => 2, "5xx" => 4}}}, @totals.with([]))
    assert_equal({0 => {"requests" => 11, "codes" => {"2xx" => 3, "5xx" => 4}, "open" => 1}},
      @totals.with([One.new(0, {"requests" => 1, "open" => 1, "codes" => {"2xx" => 1}})]))
    assert_equal 10, @totals.with([])[0]["requests"]
  end

  def test_a_worker_that_has_reported_nothing_yet
    @totals.retire(One.new(0, {}))

    assert_equal({0 => {}}, @totals.with([One.new(0, {})]))
  end
end
