# frozen_string_literal: true

require "test_helper"

# What must stay secret is shown nowhere: see the program.
class SecretsTest < PeltonTest
  self.deadline = 120

  PROGRAM = File.join(ROOT, "test/support/secrets_program.rb")

  %w[production development].each do |environment|
    define_method(:"test_all_objects_in_#{environment}") do
      classes, *found = ruby_output("load #{PROGRAM.dump}", env: {"RACK_ENV" => environment}, deadline: 100, gems: true).lines(chomp: true)

      assert_operator Integer(classes[/\A\d+/]), :>, 100, classes
      assert_empty found
    end
  end
end
