# frozen_string_literal: true

require "test_helper"

# What must stay secret is shown nowhere: see the programs.
class SecretsTest < PeltonTest
  self.deadline = 120

  TRACES = File.join(ROOT, "test/support/secrets/traces_program.rb")
  PROGRAM = File.join(ROOT, "test/support/secrets/program.rb")

  %w[production development].each do |environment|
    define_method(:"test_all_objects_in_#{environment}") do
      classes, *found = ruby_output("load #{PROGRAM.dump}", env: {"RACK_ENV" => environment}, deadline: 100,
        gems: true).lines(chomp: true)

      assert_operator Integer(classes[/\A\d+/]), :>, 100, classes
      assert_empty found
    end
  end

  def test_traces_logs_and_the_control_socket
    Gem::Specification.find_all_by_name("opentelemetry-sdk").any? || skip("the gem opentelemetry-sdk is not installed")
    classes, *found = ruby_output("load #{TRACES.dump}", deadline: 100, gems: true).lines(chomp: true)

    assert_match(/\A\d+ classes\z/, classes)
    assert_empty found
  end
end
