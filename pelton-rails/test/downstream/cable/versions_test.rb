# frozen_string_literal: true

require_relative "../../support/rails_program"

# An Action Cable that pelton-rails does not know keeps its own server.
class CableVersionsTest < PeltonTest
  include RailsProgram

  self.deadline = 120

  def test_a_newer_action_cable_is_said_at_boot_and_keeps_its_server
    said = %w[8.1.9 8.2.0].map do |version|
      setup = <<~RUBY
        require "action_cable/engine"
        Pelton.logger = Logger.new($stdout, formatter: ->(*, message) { message + "\\n" })
        ActionCable.singleton_class.define_method(:gem_version) { Gem::Version.new("#{version}") }
      RUBY
      rails_output("TestApplication.initialize!; puts ActionCable::Server::Base.ancestors.any? { |one| one.name&.start_with?('Pelton') }", setup: APPLICATION + setup).lines
    end

    assert_equal ["true\n"], said.first
    assert_match(/Action Cable 8\.2\.0 is newer .* Rails' own server/, said.last.first)
    assert_equal ["false\n"], said.last.drop(1)
  end
end
