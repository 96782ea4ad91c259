# frozen_string_literal: true

require_relative "../test_helper"
require_relative "some_heat"
require "pelton/lab/environment"
require "pelton/lab/report_text"
require "stringio"

class LabReportTextTest < PeltonTest
  def report
    out = StringIO.new
    yield Pelton::Lab::ReportText.new(out)
    out.string
  end

  def test_a_table_with_times_as_benchmark_prints_them
    text = report { |report| report.heat(SomeHeat.new) }

    assert_match(/^sums: adding \(one core; 20,000 numbers; 2 rounds; some server 1.0\)$/, text)
    assert_match(/^ +style +size +user +system +total +real +us\/op +min\.\.max +RSS MB +\/ slow$/, text)
    assert_match(/^  slow +blocking +20,000 +4\.000000 +1\.000000 +5\.000000 \( +8\.000000\) +400\.00 +300\.00\.\.500\.00 +10 +1\.000$/, text)
    assert_match(/^  fast +direct .* 0\.250\?$/, text)
    assert_match(/^  refused: liar: wrong: it lied$/, text)
  end

  def test_what_is_done
    assert_match(/^sums: adding .*\n  numbers are added\n/, report { |report| report.heat(SomeHeat.new.tap { |heat| heat.race.about("numbers are added") }) })
  end

  def test_figures_beside_and_who_was_left_out
    text = report do |report|
      report.heat(SomeHeat.beside)
      report.targets([SomeHeat.beside])
    end

    assert_match(/ min\.\.max +keys, thousands +RSS MB /, text)
    assert_match(/^  fast .* 3\.5 +10 +0\.250\?$/, text)
    assert_match(/^  left out \(--peers: they run, too\): many others$/, text)
    assert_match(/^ +- +keys +<= 4\.00 k +3\.50 +met \(2\)$/, text.lines.grep(/<=/).last)
  end

  def test_a_heat_that_was_skipped
    assert_match(/^  skipped: one core only$/, report { |report| report.heat(SomeHeat.new.tap { |heat| heat.skipped = "one core only" }) })
  end

  def test_targets_in_the_order_of_their_rows
    text = report { |report| report.targets([SomeHeat.new]) }
    rows = text.lines.grep(/^ +\d/)

    assert_match(/ 1  liar \/ slow +<= 0\.50 +- +not measured: liar: wrong: it lied$/, rows[0])
    assert_match(/ 2  fast \/ slow +<= 0\.50 +0\.25 +met \(2\)$/, rows[1])
    assert_match(/ 3  memory +<= 5 MB +10 +missed \(2\)$/, rows[2])
    assert_match(/\(n\): of n rounds; a verdict takes 7/, text)
  end

  def test_ratios_that_another_run_may_not_find_are_counted
    text = report { |report| report.doubts([SomeHeat.new]) }

    assert_match(/^1 ratio marked \? may be more than 10 % off in another run/, text)
    assert_empty report { |report| report.doubts([]) }
  end

  def test_from_which_latency_on_contenders_are_ahead
    text = report { |report| report.sweeps(SomeHeat.sweep) }

    assert_match(/^sums: sweep: ahead of slow$/, text)
    assert_match(/^  fast: from 1\.50 ms$/, text)
    assert_match(/^  never: never$/, text)
    assert_empty report { |report| report.sweeps(SomeHeat.sweep.each { |heat| heat["slow"].refuse("it lied") }) }
  end

  def test_a_race_with_points
    heats = SomeHeat.grid
    text = report do |report|
      report.heat(heats.first)
      report.sweeps(heats)
    end

    assert_match(/^sums: grid \(not pinned; 0 ms of round trip; 5 numbers; 3 rounds\)$/, text)
    assert_match(/^  numbers at once, us each +style +1 +10$/, text)
    assert_match(/^  slow +blocking +10.0 +10.0$/, text)
    assert_match(%r{^    / slow +2\.000 +0\.500 *$}, text)
    assert_match(/^  fast: at 0 ms from 3.16 at once, at 10 ms from 1.00 at once$/, text)
  end

  def test_what_was_published_stands_above
    assert_match(/^  An article, 2012:\n +style .*\n  then +blocking +1\.500000 +0\.500000 +2\.000000 \(  4\.000000\) +1\.000\n  later +- .*2\.000\n  today:/,
      report { |report| report.heat(SomeHeat.grid.first) })
  end

  def test_the_machine
    text = report { |report| report.environment(Pelton::Lab::Environment.new) }

    assert_includes text, RUBY_DESCRIPTION
  end
end
