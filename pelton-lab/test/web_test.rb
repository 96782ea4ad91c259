# frozen_string_literal: true

require "test_helper"
require "pelton/lab/web"

class LabWebExperimentTest < PeltonTest
  def test_an_experiment_with_web_servers_runs_only_when_it_is_named
    with_file(<<~RUBY) do |path|
      Pelton::Lab.web_experiment("mine") { |programs| about(programs.application("hello")) }
    RUBY
      experiment = Pelton::Lab.load(path).first

      assert_predicate experiment, :only_when_named?
      assert_equal "mine", experiment.name
      assert_equal path, experiment.path
      assert_path_exists experiment.about
    end
  end
end
