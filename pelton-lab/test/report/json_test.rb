# frozen_string_literal: true

require "test_helper"
require_relative "../some_comparison"
require "pelton/lab/environment"
require "pelton/lab/options"
require "pelton/lab/report/json"

class LabReportJsonTest < PeltonTest
  def setup
    options = Pelton::Lab::Options.new(%w[--rounds 2 --seed 5])
    @report = JSON.parse(Pelton::Lab::ReportJson.new([SomeComparison.new], options, Pelton::Lab::Environment.new).to_s)
  end

  def test_the_machine_and_the_parameters
    assert_equal RUBY_DESCRIPTION, @report["environment"]["ruby"]
    assert_equal ["some server 1.0"], @report["environment"]["versions"]["servers"]
    assert_equal [2, 5], @report["parameters"].values_at("rounds", "seed")
  end

  def test_each_contender_with_its_rounds
    slow, fast, liar = @report["contenders"]

    assert_equal %w[sums adding same slow blocking measured], slow.values_at(*%w[experiment race pin name style status])
    assert_equal [400.0, 4.0, 1.0, 8.0, 10.0], slow.values_at(*%w[median user system real rss])
    assert_equal([6.0, 10.0], slow["rounds"].map { |round| round["real"] })
    assert_in_delta 0.25, fast["ratio"]
    assert_equal ["refused", "wrong: it lied", nil, []], liar.values_at(*%w[status reason median rounds])
  end

  def test_more_metrics
    report = Pelton::Lab::ReportJson.new([SomeComparison.beside], Pelton::Lab::Options.new([]),
      Pelton::Lab::Environment.new).to_h

    assert_equal [{keys: 7.0}, {keys: 3.5}, {keys: nil}], report[:contenders].map { |contender| contender[:also] }
  end

  def test_each_check
    assert_equal [
      [2, 0.25, 0.5, "not certain", nil, nil],
      [1, nil, 0.5, "not measured", nil, nil],
      [3, 10.0, 5, "not certain", nil, nil]
    ], checks(@report)

    certain = Pelton::Lab::ReportJson.new([SomeComparison.new(repeat: 4)], Pelton::Lab::Options.new([]),
      Pelton::Lab::Environment.new)

    assert_equal [[2, 0.25, 0.5, "met", true, [0.25, 0.25]], [1, nil, 0.5, "not measured", nil, nil],
      [3, 10.0, 5, "missed", false, [10.0, 10.0]]],
      checks(JSON.parse(certain.to_s))
  end

  def checks(report)
    report["checks"].map { |check| check.values_at(*%w[row ratio target verdict met interval]) }
  end
end
