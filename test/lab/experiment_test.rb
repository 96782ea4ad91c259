# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/lab"

class LabExperimentTest < PeltonTest
  def setup
    @experiment = Pelton::Lab::Experiment.new("sums", "/some/file.rb") do
      about "adding"
      race("small", size: 1) {}
      race("large", size: 100) {}
    end
  end

  def test_says_what_is_asked
    assert_equal "adding", @experiment.about
  end

  def test_keeps_its_races_in_order
    assert_equal %w[small large], @experiment.races.map(&:name)
  end

  def test_finds_a_race_by_its_name
    assert_equal "large", @experiment.find("large").name
    assert_raises(KeyError) { @experiment.find("none") }
  end
end
