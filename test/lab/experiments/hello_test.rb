# frozen_string_literal: true

require_relative "../../test_helper"
require "pelton/lab"

# What it declares; it is run in test/integration/lab_web_test.rb.
class LabHelloExperimentTest < PeltonTest
  def setup
    @experiment = Pelton::Lab.load(Pelton::Lab.shipped.fetch("hello")).first
  end

  def test_the_rows_of_the_targets
    assert_equal [11, 12, 12, 12, 26], @experiment.races.flat_map(&:targets).map(&:row)
  end

  def test_server_and_load_are_on_two_cores
    assert_equal [:apart], @experiment.find("keep-alive").sizes.keys
    assert_equal "nginx, return 200", @experiment.find("keep-alive").reference.name
  end

  def test_it_is_run_only_when_named
    assert_predicate @experiment, :only_when_named?
  end
end
