# frozen_string_literal: true

require "test_helper"
require_relative "../some_comparison"
require "pelton/lab/environment"
require "pelton/lab/report/text"
require "stringio"

class LabReportTextTest < PeltonTest
  def report
    out = StringIO.new
    yield Pelton::Lab::ReportText.new(out)
    out.string
  end

  def test_a_table_with_times_as_benchmark_prints_them
    text = report { |report| report.comparison(SomeComparison.new) }

    assert_match(/^sums: adding \(one core; 20,000 numbers; 2 rounds; some server 1.0\)$/, text)
    assert_match(/^ +style +size +user +system +total +real +us\/op +min\.\.max +RSS MB +\/ slow$/, text)
    assert_match(/^  slow +blocking +20,000 +4\.000000 +1\.000000 +5\.000000 \( +8\.000000\) +400\.00 +300\.00\.\.500\.00 +10 +1\.000$/,
      text)
    assert_match(/^  fast +direct .* 0\.250\?$/, text)
    assert_match(/^  refused: liar: wrong: it lied$/, text)
  end

  def test_the_race_is_described
    assert_match(/^sums: adding .*\n  numbers are added\n/,
      report do |report|
        report.comparison(SomeComparison.new.tap { |comparison| comparison.race.about("numbers are added") })
      end)
  end

  def test_more_metrics_and_left_out_contenders
    text = report do |report|
      report.comparison(SomeComparison.beside)
      report.targets([SomeComparison.beside])
    end

    assert_match(/ min\.\.max +keys, thousands +RSS MB /, text)
    assert_match(/^  fast .* 3\.5 +10 +0\.250\?$/, text)
    assert_match(/^  left out \(--peers: they run, too\): many others$/, text)
    assert_match(/^ +- +keys +<= 4\.00 k +3\.50 +not certain \(2\)$/, text.lines.grep(/<=/).last)
  end

  def test_a_comparison_that_was_skipped
    assert_match(/^  skipped: one core only$/,
      report do |report|
        report.comparison(SomeComparison.new.tap { |comparison| comparison.skipped = "one core only" })
      end)
  end

  def test_targets_in_the_order_of_their_rows
    text = report { |report| report.targets([SomeComparison.new]) }
    rows = text.lines.grep(/^ +\d/)

    assert_match(/ 1  liar \/ slow +<= 0\.50 +- +not measured: liar: wrong: it lied$/, rows[0])
    assert_match(/ 2  fast \/ slow +<= 0\.50 +0\.25 +not certain \(2\)$/, rows[1])
    assert_match(/ 3  memory +<= 5 MB +10 +not certain \(2\)$/, rows[2])
    assert_match(/\(n\): from n rounds only, a verdict should have 7/, text)
    assert_match(/not certain: the confidence interval of the value includes the limit/, text)
  end

  def test_verdicts_from_enough_rounds
    rows = report { |report| report.targets([SomeComparison.new(repeat: 4)]) }.lines.grep(/^ +\d/)

    assert_match(/ 2  fast .* 0\.25 +met$/, rows[1])
    assert_match(/ 3  memory .* 10 +missed$/, rows[2])
  end

  def test_uncertain_ratios_are_counted
    text = report { |report| report.uncertain([SomeComparison.new]) }

    assert_match(/^1 ratio marked \?: not certain within 10 %/, text)
    assert_empty report { |report| report.uncertain([]) }
  end

  def test_from_which_latency_on_contenders_are_ahead
    text = report { |report| report.latency_sweeps(SomeComparison.sweep) }

    assert_match(/^sums: sweep: ahead of slow$/, text)
    assert_match(/^  fast: from 1\.50 ms$/, text)
    assert_match(/^  never: never$/, text)
    assert_empty report { |report|
      report.latency_sweeps(SomeComparison.sweep.each { |comparison| comparison["slow"].refuse("it lied") })
    }
  end

  def test_a_race_with_points
    comparisons = SomeComparison.grid
    text = report do |report|
      report.comparison(comparisons.first)
      report.latency_sweeps(comparisons)
    end

    assert_match(/^sums: grid \(not pinned; 0 ms of round trip; 5 numbers; 3 rounds\)$/, text)
    assert_match(/^  numbers at once, us each +style +1 +10$/, text)
    assert_match(/^  slow +blocking +10.0 +10.0$/, text)
    assert_match(%r{^    / slow +2\.000 +0\.500 *$}, text)
    assert_match(/^  fast: at 0 ms from 3.16 at once, at 10 ms from 1.00 at once$/, text)
  end

  def test_published_results_stand_above
    assert_match(/^  An article, 2012:\n +style .*\n  then +blocking +1\.500000 +0\.500000 +2\.000000 \(  4\.000000\) +1\.000\n  later +- .*2\.000\n  today:/,
      report { |report| report.comparison(SomeComparison.grid.first) })
  end

  def test_the_machine
    text = report { |report| report.environment(Pelton::Lab::Environment.new) }

    assert_includes text, RUBY_DESCRIPTION
    assert_match(/using the machine when the lab began \(load 7\.5 on 2 cores\)/,
      report { |report| report.environment({load: 7.5, usable_cores: 2}) })
  end
end
