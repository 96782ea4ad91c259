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
      assert_match(/declares no experiment/,
        assert_raises(Pelton::Lab::UsageError) { Pelton::Lab.load(file.path) }.message)
    end
  end

  def test_the_guides_example_is_one
    Tempfile.create(["guide", ".rb"]) do |file|
      file.write(File.read(File.join(ROOT, "docs/guides/lab.md"))[/^```ruby\n(.*?)^```/m, 1])
      file.flush

      assert_equal ["in turn", "at once"], Pelton::Lab.load(file.path).first.find("ask").contenders.map(&:name)
    end
  end
end
