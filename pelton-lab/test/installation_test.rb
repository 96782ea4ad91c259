# frozen_string_literal: true

require "test_helper"
require "open3"
require "pelton/lab/installation"

class LabInstallationTest < PeltonTest
  Installation = Pelton::Lab::Installation

  def test_a_child_loads_the_same_files
    program =
      'require "pelton"; require "pelton-eventmachine"; require "pelton/lab"; puts $LOADED_FEATURES.grep(/pelton/)'
    output, status = Open3.capture2(child_environment, RbConfig.ruby, "-I", Installation::LIBRARIES, "-e", program)

    assert_predicate status, :success?
    assert_empty output.lines.reject { |path| path.start_with?("#{ROOT}/") }
  end

  def test_the_command_is_that_of_this_pelton
    output, = Open3.capture2(child_environment, RbConfig.ruby, "-I", Installation::LIBRARIES, Installation::COMMAND,
      "version")

    assert_equal "pelton #{Pelton::VERSION}\n", output
  end
end
