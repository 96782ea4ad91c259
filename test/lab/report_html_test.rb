# frozen_string_literal: true

require_relative "../test_helper"
require_relative "some_heat"
require "pelton/lab/environment"
require "pelton/lab/options"
require "pelton/lab/report_html"

class LabReportHtmlTest < PeltonTest
  def page(heats, environment: Pelton::Lab::Environment.new)
    Pelton::Lab::ReportHtml.new(heats, Pelton::Lab::Options.new(%w[mine.rb --seed 5]), environment).to_s
  end

  def text(html)
    CGI.unescapeHTML(html.gsub(/<style>.*?<\/style>/m, "").gsub(/<[^>]+>/, " ")).squeeze(" ")
  end

  def test_it_loads_nothing_and_runs_nothing
    html = page([SomeHeat.new, *SomeHeat.sweep, *SomeHeat.grid])

    refute_match(/<script|<link|<img|src=|url\(|https?:/, html)
    assert html.start_with?("<!DOCTYPE html>\n<html")
  end

  def test_every_tag_is_closed
    open = []
    page([SomeHeat.new, *SomeHeat.sweep, *SomeHeat.grid]).sub(/<style>.*<\/style>/m, "").scan(%r{<(/)?([a-z][a-z0-9]*)[^>]*?(/)?>}) do |closing, name, empty|
      next if empty || name == "meta"
      closing ? assert_equal(open.pop, name) : open.push(name)
    end

    assert_empty open
  end

  def test_the_machine_the_versions_and_the_commands
    heat = SomeHeat.new
    heat.commands["memcached"] = "memcached -p 1 -t 1"
    said = text(page([heat]))

    assert_includes said, RUBY_DESCRIPTION
    assert_includes said, "some server 1.0"
    assert_includes said, "pelton lab mine.rb --seed 5"
    assert_includes said, "memcached -p 1 -t 1"
  end

  def test_who_was_refused_is_named_with_the_reason
    assert_includes text(page([SomeHeat.new])), "refused: liar: wrong: it lied"
    assert_includes text(page([SomeHeat.new.tap { |heat| heat.skipped = "one core only" }])), "skipped: one core only"
  end

  def test_what_is_done_and_what_a_picture_shows
    html = page([SomeHeat.new.tap { |heat| heat.race.about("numbers are added") }])

    assert_match(%r{<h3>adding</h3><p class="about">numbers are added</p>.*<h4>time an operation takes, µs</h4><div class="bars"}m, html)
    refute_includes page([SomeHeat.new]), "</h3><p class=\"about\">"
  end

  def test_a_picture_of_each_figure_beside
    html = page([SomeHeat.beside])

    assert_equal 2, html.scan('class="bars"').size
    assert_includes html, "<h4>keys, thousands</h4>"
    assert_includes text(html), "left out (--peers: they run, too): many others"
    assert_equal 1, page([SomeHeat.beside.tap { |heat| heat.results.each { |result| result.measurements.each { |one| one.records.clear } } }]).scan('class="bars"').size
  end

  def test_it_says_whether_another_run_would_find_the_same
    assert_includes text(page([SomeHeat.new])), "1 of 1 ratios, marked like this, may come out more than 10 % differently"
    assert_includes text(page(SomeHeat.sweep)), "Another run would find all 6 ratios within 10 % of these."
  end

  def test_it_says_that_the_machine_was_busy
    quiet, busy = [0.1, 7.5].map { |load| text(page([SomeHeat.new], environment: {ruby: "ruby 3.1", usable_cores: 2, load:})) }

    assert_includes busy, "The machine was busy with other things when this began (load 7.5 on 2 cores)"
    refute_includes quiet, "busy"
  end

  def test_without_the_baseline_all_the_rest_is_there
    heats = [*SomeHeat.sweep, *SomeHeat.grid].each { |heat| heat["slow"].refuse("it lied") }
    said = text(page(heats))

    assert_includes said, "refused: slow: it lied"
    assert_includes said, "µs an operation, at once:"
    assert_includes said, "fast"
  end

  def test_all_was_skipped_or_refused
    heats = [SomeHeat.new, *SomeHeat.sweep, *SomeHeat.grid].each { |heat| heat.results.each { |result| result.refuse("no") } }

    assert_includes text(page(heats)), "refused: fast: no"
  end

  def test_targets_are_counted
    assert_includes text(page([SomeHeat.new])), "1 of 3 met"
    refute_includes text(page(SomeHeat.sweep)), "Targets"
  end

  def test_names_are_text
    heat = SomeHeat.new
    heat["slow"].contender.instance_variable_set(:@name, "<i>slow & steady</i>")

    assert_includes page([heat]), "&lt;i&gt;slow &amp; steady&lt;/i&gt;"
    refute_includes page([heat]), "<i>slow"
  end

  def test_units_as_they_are_printed
    assert_equal ["µs/op", "µs", "bus"], %w[us/op us bus].map { |title| Pelton::Lab::ReportHtml.unit(title) }
  end
end
