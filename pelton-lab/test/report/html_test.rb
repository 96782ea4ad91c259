# frozen_string_literal: true

require "test_helper"
require_relative "../some_comparison"
require "pelton/lab/environment"
require "pelton/lab/options"
require "pelton/lab/report/html"

class LabReportHtmlTest < PeltonTest
  def page(comparisons, environment: Pelton::Lab::Environment.new)
    Pelton::Lab::ReportHtml.new(comparisons, Pelton::Lab::Options.new(%w[mine.rb --seed 5]), environment).to_s
  end

  def text(html)
    CGI.unescapeHTML(html.gsub(/<style>.*?<\/style>/m, "").gsub(/<[^>]+>/, " ")).squeeze(" ")
  end

  def test_it_loads_nothing_and_runs_nothing
    html = page([SomeComparison.new, *SomeComparison.sweep, *SomeComparison.grid])

    refute_match(/<script|<link|<img|src=|url\(|https?:/, html)
    assert html.start_with?("<!DOCTYPE html>\n<html")
  end

  def test_every_tag_is_closed
    open = []
    page([SomeComparison.new, *SomeComparison.sweep, *SomeComparison.grid]).sub(/<style>.*<\/style>/m,
      "").scan(%r{<(/)?([a-z][a-z0-9]*)[^>]*?(/)?>}) do |closing, name, empty|
      next if empty || name == "meta"
      closing ? assert_equal(open.pop, name) : open.push(name)
    end

    assert_empty open
  end

  def test_the_machine_the_versions_and_the_commands
    comparison = SomeComparison.new
    comparison.commands["memcached"] = "memcached -p 1 -t 1"
    comparison.commands["server"] = "ruby #{Dir.pwd}/program.rb #{Dir.home}/settings"
    said = text(page([comparison]))

    assert_includes said, RUBY_DESCRIPTION
    assert_includes said, "some server 1.0"
    assert_includes said, "pelton lab mine.rb --seed 5"
    assert_includes said, "memcached -p 1 -t 1"
    assert_includes said, "ruby program.rb ~/settings"
  end

  def test_a_refused_contender_is_named_with_the_reason
    assert_includes text(page([SomeComparison.new])), "refused: liar: wrong: it lied"
    assert_includes text(page([SomeComparison.new.tap { |comparison| comparison.skipped = "one core only" }])),
      "skipped: one core only"
  end

  def test_the_race_is_described_and_its_picture_has_a_title
    html = page([SomeComparison.new.tap { |comparison| comparison.race.about("numbers are added") }])

    expected =
      %r{<h3>adding</h3><p class="about">numbers are added</p>.*<h4>time an operation takes, µs</h4><div class="bars"}m
    assert_match expected, html
    refute_includes page([SomeComparison.new]), "</h3><p class=\"about\">"
  end

  def test_a_picture_of_each_metric
    html = page([SomeComparison.beside])

    assert_equal 2, html.scan('class="bars"').size
    assert_includes html, "<h4>keys, thousands</h4>"
    assert_includes text(html), "left out (--peers: they run, too): many others"
    assert_equal 1,
      page([SomeComparison.beside
        .tap { |comparison|
          comparison.results.each { |result| result.measurements.each { |one| one.records.clear } }
        }])
        .scan('class="bars"').size
  end

  def test_it_says_how_many_ratios_are_certain
    assert_includes text(page([SomeComparison.new])), "1 of 1 ratios, marked like this, are not certain within 10 %"
    assert_includes text(page(SomeComparison.sweep)), "All 6 ratios are certain within 10 %."
  end

  def test_it_says_that_the_machine_was_busy
    quiet, busy = [0.1, 7.5].map do |load|
      text(page([SomeComparison.new], environment: {ruby: "ruby 3.1", usable_cores: 2, load:}))
    end

    assert_includes busy, "Other programs were using the machine when the lab began (load 7.5 on 2 cores)"
    refute_includes quiet, "Other programs"
  end

  def test_without_the_baseline_all_the_rest_is_there
    comparisons = [*SomeComparison.sweep, *SomeComparison.grid].each do |comparison|
      comparison["slow"].refuse("it lied")
    end
    said = text(page(comparisons))

    assert_includes said, "refused: slow: it lied"
    assert_includes said, "µs an operation, at once:"
    assert_includes said, "fast"
  end

  def test_all_was_skipped_or_refused
    comparisons = [SomeComparison.new, *SomeComparison.sweep, *SomeComparison.grid].each do |comparison|
      comparison.results.each { |result| result.refuse("no") }
    end

    assert_includes text(page(comparisons)), "refused: fast: no"
  end

  def test_targets_are_counted
    assert_includes text(page([SomeComparison.new])), "Of 3: 2 not certain, 1 not measured."
    assert_includes text(page([SomeComparison.new(repeat: 4)])), "Of 3: 1 met, 1 missed, 1 not measured."
    refute_includes text(page(SomeComparison.sweep)), "Targets"
  end

  def test_names_are_text
    comparison = SomeComparison.new
    comparison["slow"].contender.instance_variable_set(:@name, "<i>slow & steady</i>")

    assert_includes page([comparison]), "&lt;i&gt;slow &amp; steady&lt;/i&gt;"
    refute_includes page([comparison]), "<i>slow"
  end

  def test_units_as_they_are_printed
    assert_equal ["µs/op", "µs", "bus"], %w[us/op us bus].map { |title| Pelton::Lab::ReportHtml.unit(title) }
  end
end
