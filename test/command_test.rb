# frozen_string_literal: true

require_relative "test_helper"
require "pelton/command"

class CommandTest < PeltonTest
  def test_version
    status = nil

    assert_output("pelton #{Pelton::VERSION}\n") { status = Pelton::Command.run(["version"]) }
    assert_equal 0, status
  end

  def test_without_a_command_it_shows_the_usage
    assert_output(/\Ausage: pelton COMMAND/) { assert_equal 0, Pelton::Command.run([]) }
  end

  def test_an_unknown_command_is_an_error_on_stderr
    assert_output("", /no command "nonsense".*usage:/m) { assert_equal 2, Pelton::Command.run(["nonsense"]) }
  end
end
