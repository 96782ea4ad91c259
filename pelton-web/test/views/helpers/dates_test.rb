# frozen_string_literal: true

require "test_helper"
require "date"
require "pelton/web"
require "pelton/web/views/view"

class WebDatesTest < PeltonTest
  NOW = Time.utc(2026, 11, 23, 12)
  MINUTE = 60
  HOUR = 60 * MINUTE
  DAY = 24 * HOUR

  def view = Pelton::Web::View.new

  def test_how_far_two_times_are_apart
    {0 => "less than a minute", 29 => "less than a minute", 30 => "1 minute", 89 => "1 minute", 90 => "2 minutes",
     44 * MINUTE => "44 minutes", 45 * MINUTE => "about 1 hour", 89 * MINUTE => "about 1 hour",
     90 * MINUTE => "about 2 hours", 23 * HOUR => "about 23 hours", DAY => "1 day", 47 * HOUR => "2 days",
     29 * DAY => "29 days", 30 * DAY => "about 1 month", 59 * DAY => "about 2 months", 60 * DAY => "2 months",
     364 * DAY => "11 months", 365 * DAY => "about 1 year", 500 * DAY => "over 1 year", 700 * DAY => "almost 2 years",
     3 * 365 * DAY => "about 3 years"}.each do |seconds, words|
      assert_equal words, view.time_ago_in_words(NOW - seconds, now: NOW), "#{seconds} s"
      assert_equal words, view.distance_of_time_in_words(NOW, NOW - seconds)
    end
    assert_equal "1 minute", view.distance_of_time_in_words(60)
    words = (0...3 * 365).map { |days| view.distance_of_time_in_words(days * DAY) }

    assert_equal words.chunk_while { |one, other| one == other }.to_a.size, words.uniq.size, "no words come twice"
  end

  def test_a_time_for_people_and_programs
    assert_equal '<time datetime="2026-11-23T12:00:00Z">2026-11-23 12:00 UTC</time>', view.time_tag(NOW)
    assert_equal '<time datetime="2026-11-23">23.11.</time>', view.time_tag(Date.new(2026, 11, 23), format: "%d.%m.")
    assert_equal '<time datetime="2026-11-23T12:00:00Z" class="x">&lt;noon&gt;</time>',
      view.time_tag(NOW, "<noon>", class: "x")
    assert_equal '<time datetime="2026-11-23T12:00:00+01:00">noon</time>',
      view.time_tag(Time.new(2026, 11, 23, 12, 0, 0, "+01:00")) { "noon" }
  end

  def test_how_long_ago
    assert_equal '<time datetime="2026-11-23T11:57:00Z" title="2026-11-23 11:57 UTC">3 minutes ago</time>',
      view.time_ago_tag(NOW - 180, now: NOW)
    assert_includes view.time_ago_tag(NOW + 2 * DAY, now: NOW), ">in 2 days<"
    assert_includes view.time_ago_tag(NOW.to_datetime - 2, now: NOW), ">2 days ago<"
    assert_includes view.time_ago_tag(NOW.to_date - 10, now: NOW), 'datetime="2026-11-13"'
  end

  def test_no_time
    assert_equal "", view.time_tag(nil)
    assert_equal "", view.time_ago_tag(nil)
    assert_equal "", view.time_ago_in_words(nil)
  end
end
