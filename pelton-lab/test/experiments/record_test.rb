# frozen_string_literal: true

require "test_helper"
require "pelton/lab"

# The declaration; the experiment runs in test/integration/lab_web_test.rb.
class LabRecordExperimentTest < PeltonTest
  def setup
    @experiment = Pelton::Lab.load(Pelton::Lab.shipped.fetch("record")).first
  end

  def test_the_rows_of_the_targets
    assert_equal [17, 17, 18, 19], @experiment.races.flat_map(&:targets).filter_map(&:row).sort
  end

  def test_all_pages_are_served_by_the_same_contenders
    assert_equal 1, @experiment.races.map { |race| race.contenders.map(&:name) - ["mysql2/em, Thin"] }.uniq.size
    assert_equal ["MariaDB"], @experiment.races.select { |race| race.contenders.any? { |one| one.name == "mysql2/em, Thin" } }.map { |race| race.name[/\w+\z/] }.uniq
    assert_equal ["Rails, Puma"], @experiment.races.map { |race| race.reference.name }.uniq
  end

  def test_each_page_by_each_database_that_can_serve_it
    names = @experiment.races.group_by { |race| race.name[/\w+\z/] }.transform_values { |races| races.map { |race| race.name[/\A.+(?=,)/] } }

    waiting = ["1,000 requests that wait", "a query of 20 ms"]

    assert_equal (waiting + ["20 rows", "an insert", "an update of 5 rows", "five users", "one row", "ten requests a connection", "the page again"]).sort, names["MariaDB"].sort
    assert_equal names["MariaDB"].sort, names["PostgreSQL"].sort
    assert_equal names["MariaDB"].sort - waiting, names["SQLite"].sort
  end

  def test_it_is_run_only_when_named
    assert_predicate @experiment, :only_when_named?
  end
end
