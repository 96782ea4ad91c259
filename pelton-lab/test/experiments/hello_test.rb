# frozen_string_literal: true

require "test_helper"
require "pelton/lab"

# The declaration; the experiment runs in test/integration/lab_web_test.rb.
class LabHelloExperimentTest < PeltonTest
  def setup
    @experiment = Pelton::Lab.load(Pelton::Lab.shipped.fetch("hello")).first
  end

  def test_the_rows_of_the_targets
    assert_equal [11, 12, 12, 12, 12, 12, 12, 27, 28, 26], @experiment.races.flat_map(&:targets).map(&:row)
  end

  # In the targets' texts.
  def test_a_share_of_requests_is_the_inverse_of_the_time
    targets = @experiment.races.flat_map(&:targets).select { |target| target.to.nil? && target.what.match?(/nginx/) && target.what.match?(/\(0\.\d/) }

    assert_equal 6, targets.size
    targets.each { |target| assert_in_delta 1, target.limit * target.what[/\((0\.\d+)/, 1].to_f, 1e-9, target.what }
  end

  def test_the_same_servers_with_all_numbers_of_connections
    races = ["8 connections", "keep-alive", "512 connections", "4,096 connections", "new connections"].map { |name| @experiment.find(name) }

    assert_equal 1, races.map { |race| race.contenders.map(&:name) }.uniq.size
    assert_equal ["nginx, return 200"], races.map { |race| race.reference.name }.uniq
  end

  def test_server_and_load_are_on_two_cores
    assert_equal [:apart], @experiment.find("keep-alive").sizes.keys
    assert_equal "nginx, return 200", @experiment.find("keep-alive").reference.name
  end

  def test_servers_are_measured_in_turns
    assert_equal [6, 4], @experiment.races.map(&:rounds_per_process).uniq
    assert(@experiment.races.all? { |race| race.sizes.values.max <= 2 })
  end

  def test_it_is_run_only_when_named
    assert_predicate @experiment, :only_when_named?
  end
end
