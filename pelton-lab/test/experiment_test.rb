# frozen_string_literal: true

require "test_helper"
require "pelton/lab"

class LabExperimentTest < PeltonTest
  def setup
    @experiment = Pelton::Lab::Experiment.new("sums", "/some/file.rb") do
      about "adding"
      race("small", size: 1) {}
      race("large", size: 100) {}
    end
  end

  def test_states_the_question
    assert_equal "adding", @experiment.about
  end

  def test_is_run_with_the_others_unless_it_says_otherwise
    refute_predicate @experiment, :only_when_named?
    assert_predicate Pelton::Lab::Experiment.new("long", "/some/file.rb") { only_when_named }, :only_when_named?
  end

  def test_keeps_its_races_in_order
    assert_equal %w[small large], @experiment.races.map(&:name)
  end

  def test_finds_a_race_by_its_name
    assert_equal "large", @experiment.find("large").name
    assert_raises(KeyError) { @experiment.find("none") }
  end
end
