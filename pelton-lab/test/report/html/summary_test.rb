# frozen_string_literal: true

require "test_helper"
require_relative "../../some_comparison"
require "pelton/lab/report/html"

class LabSummaryTest < PeltonTest
  # The texts of a card.
  def card(*comparisons)
    html = Pelton::Lab::ReportHtml::Summary.new(Pelton::Lab::LatencySweep.of(comparisons)).to_html
    html.scan(/<(?:b|span|small)(?: class="uncertain")?>([^<]*)</).flatten
  end

  def test_times_as_fast_as_the_baseline
    assert_equal ["4.0×", "as fast as “slow”: “fast”", "sums, adding, one core"], card(SomeComparison.new)
  end

  def test_a_slower_contender_is_compared_by_its_speed_as_well
    comparison = SomeComparison.new
    comparison["fast"].refuse("to be measured anew")
    [6.12, 10.2].each { |real| comparison["fast"].add(SomeComparison.measurement(real)) }

    assert_equal ["0.98×", "as fast as “slow”: “fast”"], card(comparison).first(2)
  end

  def test_another_metric_than_a_time
    comparison = SomeComparison.new
    comparison.race.metric(:rss_mb, "peak of memory, MB")

    assert_equal ["1.00×", "peak of memory: “fast” / “slow”"], card(comparison).first(2)
  end

  def test_an_uncertain_ratio_is_marked
    marks = [1, 4].map do |repeat|
      Pelton::Lab::ReportHtml::Summary.new(Pelton::Lab::LatencySweep.of([SomeComparison.new(repeat:)]))
        .to_html[/<b[^>]*>/]
    end

    assert_equal ['<b class="uncertain">', "<b>"], marks
  end

  def test_a_blocking_contender_is_not_chosen_however_well_it_did
    comparison = SomeComparison.new
    comparison.race.contender("threads", style: "blocking") {}
    comparison.results << Pelton::Lab::Result.new(comparison.race.find("threads"), 20_000)
    2.times { comparison["threads"].add(SomeComparison.measurement(0.1)) }

    assert_equal "as fast as “slow”: “fast”", card(comparison)[1]
  end

  def test_without_a_baseline_the_best_beside_the_worst
    comparison = SomeComparison.new
    comparison.race.metric(:gap_ms, "longest gap, ms")
    comparison["slow"].contender.instance_variable_set(:@baseline, false)
    comparison["slow"].define_singleton_method(:median) { |_| 1000.0 }
    comparison["fast"].define_singleton_method(:median) { |_| 10.0 }

    assert_equal ["10.0 ms", "longest gap: fast; 1,000 with slow"], card(comparison).first(2)
  end

  def test_where_one_overtakes
    assert_equal ["from 1.50 ms", "of round trip on, fast is ahead of slow"], card(*SomeComparison.sweep).first(2)
    assert_equal ["from 4", "numbers at once on, fast is ahead of slow, even right beside the server"],
      card(*SomeComparison.grid).first(2)
  end

  def test_without_the_baseline_there_is_nothing_to_overtake
    comparisons = [SomeComparison.sweep, SomeComparison.grid].each do |some|
      some.each { |comparison| comparison["slow"].refuse("it lied") }
    end

    assert_equal [[], []], comparisons.map { |some| card(*some) }
  end

  def test_nothing_was_measured
    assert_empty card(SomeComparison.new.tap { |comparison| comparison.skipped = "no server" })
  end
end
