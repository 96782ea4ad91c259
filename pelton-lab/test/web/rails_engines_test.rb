# frozen_string_literal: true

require "test_helper"
require "pelton/lab/web/rails_engines"

# How they are found and start; they are served by test/integration/lab_applications_test.rb.
class LabRailsEnginesTest < PeltonTest
  Engines = Pelton::Lab::RailsEngines

  def test_a_ruby_that_does_not_run
    assert_equal "/no/ruby does not run", Engines.new("/no/ruby").unavailable
  end

  def test_the_version_of_their_ruby
    assert_equal RUBY_VERSION, Engines.new(RbConfig.ruby).version
    assert_nil Engines.new("/no/ruby").version
  end

  def test_the_applications_have_a_rackup_file
    %w[forum site].each { |name| assert_path_exists Engines.new.application(name) }
  end

  def test_the_environment_has_their_gems_instead_of_the_labs
    environment = Engines.new.environment

    assert_equal ["-rbundler/setup", Engines::FOLDER], environment.values_at("RUBYOPT", "BUNDLE_PATH")
    assert_match(%r{/rails_engines/[\d.+a-z]+\.rb\z}, environment["BUNDLE_GEMFILE"])
  end

  def test_a_command_runs_with_their_ruby
    command = Engines.new("/other/ruby").command(->(port, folder) { [RbConfig.ruby, "-e", "puts", port.to_s, folder] })

    assert_equal ["/other/ruby", "-e", "puts", "1", "/x"], command.call(1, "/x")
  end
end
