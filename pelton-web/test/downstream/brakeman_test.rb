# frozen_string_literal: true

require_relative "../support/web_program"

# Brakeman reads what `pelton new` and `pelton generate authentication` write: controllers, models and templates have
# the names and methods that it knows from Rails.
class WebBrakemanTest < PeltonTest
  include WebProgram

  self.deadline = 60

  PROGRAM = <<~'RUBY'
    require "pelton/web/generators/application"
    require "brakeman"

    Pelton::Web::Generators::Application.new("shop").write
    Pelton::Web::Generators.run(%w[authentication --quiet], root: File.expand_path("shop"))
    report = lambda do
      result = Brakeman.run(app_path: File.join(Dir.pwd, "shop"), force_scan: true, quiet: true, run_all_checks: true)
      p result.controllers.size, result.templates.size,
        result.errors.size, result.filtered_warnings.map { |warning| [warning.warning_type, warning.message.to_s] }
    end
    report.call
    path = "shop/app/controllers/messages_controller.rb"
    File.write(path, File.read(path).sub(/^end\n*\z/, "  def hole = eval(params[:code])\nend\n"))
    report.call
  RUBY

  def test_the_generated_application_has_no_warnings_and_a_hole_is_found
    lines = web_output(PROGRAM).lines.map(&:chomp)
    controllers, templates, errors, warnings = lines.first(4)
    found = lines.last

    assert_operator controllers.to_i, :>=, 7
    assert_operator templates.to_i, :>=, 10
    assert_equal %w[0 []], [errors, warnings]
    assert_includes found, "Dangerous Eval"
  end
end
