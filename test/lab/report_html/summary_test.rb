# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../some_heat"
require "pelton/lab/report_html"

class LabSummaryTest < PeltonTest
  # What a card says, piece by piece.
  def card(*heats)
    html = Pelton::Lab::ReportHtml::Summary.new(Pelton::Lab::Sweep.of(heats)).to_html
    html.scan(/<(?:b|span|small)>([^<]*)</).flatten
  end

  def test_times_as_fast_as_the_baseline
    assert_equal ["4.0×", "as fast: “fast” beside “slow”", "sums, adding, one core"], card(SomeHeat.new)
  end

  def test_who_is_slower_takes_times_the_time
    heat = SomeHeat.new
    3.times { heat["fast"].add(SomeHeat.measurement(100.0)) }

    assert_equal ["12.5×", "the time: “fast” beside “slow”"], card(heat).first(2)
  end

  # However well it did.
  def test_who_blocks_is_not_what_the_baseline_is_compared_with
    heat = SomeHeat.new
    heat.race.contender("threads", style: "blocking") {}
    heat.results << Pelton::Lab::Result.new(heat.race.find("threads"), 20_000)
    2.times { heat["threads"].add(SomeHeat.measurement(0.1)) }

    assert_equal "as fast: “fast” beside “slow”", card(heat)[1]
  end

  def test_without_a_baseline_the_best_beside_the_worst
    heat = SomeHeat.new
    heat.race.metric(:gap_ms, "longest gap, ms")
    heat["slow"].contender.instance_variable_set(:@baseline, false)
    heat["slow"].define_singleton_method(:median) { |_| 1000.0 }
    heat["fast"].define_singleton_method(:median) { |_| 10.0 }

    assert_equal ["10.0 ms", "longest gap: fast; 1,000 with slow"], card(heat).first(2)
  end

  def test_where_one_overtakes
    assert_equal ["from 1.50 ms", "of round trip on, fast is ahead of slow"], card(*SomeHeat.sweep).first(2)
    assert_equal ["from 4", "numbers at once on, fast is ahead of slow, even right beside the server"], card(*SomeHeat.grid).first(2)
  end

  def test_without_the_baseline_there_is_nothing_to_overtake
    heats = [SomeHeat.sweep, SomeHeat.grid].each { |some| some.each { |heat| heat["slow"].refuse("it lied") } }

    assert_equal [[], []], heats.map { |some| card(*some) }
  end

  def test_nothing_was_measured
    assert_empty card(SomeHeat.new.tap { |heat| heat.skipped = "no server" })
  end
end
