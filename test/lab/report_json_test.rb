# frozen_string_literal: true

require_relative "../test_helper"
require_relative "some_heat"
require "pelton/lab/environment"
require "pelton/lab/options"
require "pelton/lab/report_json"

class LabReportJsonTest < PeltonTest
  def setup
    options = Pelton::Lab::Options.new(%w[--rounds 2 --seed 5])
    @report = JSON.parse(Pelton::Lab::ReportJson.new([SomeHeat.new], options, Pelton::Lab::Environment.new).to_s)
  end

  def test_what_it_was_measured_on_and_how
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

  def test_figures_beside
    report = Pelton::Lab::ReportJson.new([SomeHeat.beside], Pelton::Lab::Options.new([]), Pelton::Lab::Environment.new).to_h

    assert_equal [{keys: 7.0}, {keys: 3.5}, {keys: nil}], report[:contenders].map { |contender| contender[:also] }
  end

  def test_each_check
    assert_equal [[2, 0.25, 0.5, true], [1, nil, 0.5, nil], [3, 10.0, 5, false]],
      @report["checks"].map { |check| check.values_at(*%w[row ratio target met]) }
  end
end
