# frozen_string_literal: true

require "test_helper"
require "pelton/lab"
require "tempfile"

class LabTest < PeltonTest
  def test_a_file_declares_experiments
    experiments = Pelton::Lab.load(File.expand_path("fakes.rb", __dir__))

    assert_equal ["fakes"], experiments.map(&:name)
    assert_equal File.expand_path("fakes.rb", __dir__), experiments.first.path
  end

  def test_loading_again_gives_each_experiment_once
    2.times { assert_equal 1, Pelton::Lab.load(File.expand_path("fakes.rb", __dir__)).size }
  end

  def test_a_file_without_an_experiment_is_refused
    Tempfile.create("empty") do |file|
      assert_match(/declares no experiment/, assert_raises(Pelton::Lab::UsageError) { Pelton::Lab.load(file.path) }.message)
    end
  end

  def test_the_guides_example_is_one
    Tempfile.create(["guide", ".rb"]) do |file|
      file.write(File.read(File.join(ROOT, "docs/guides/lab.md"))[/^```ruby\n(.*?)^```/m, 1])
      file.flush

      assert_equal ["in turn", "at once"], Pelton::Lab.load(file.path).first.find("ask").contenders.map(&:name)
    end
  end

  def test_the_shipped_experiments_can_be_loaded
    assert_equal %w[broker cache connections crossover eventmachine finds hello memcached rails record slow transfer waiting web], Pelton::Lab.shipped.keys
    Pelton::Lab.shipped.each do |name, path|
      assert_equal [name], Pelton::Lab.load(path).map(&:name)
    end
  end

  def test_each_target_is_of_a_contender_and_compared_with_some
    races = Pelton::Lab.shipped.values.flat_map { |path| Pelton::Lab.load(path).first.races }
    races.each { |race| race.targets.each { |target| [target.contender, *target.to].each { |name| assert race.find(name) } } }
  end
end
