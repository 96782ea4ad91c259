# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/lab/programs"

class LabProgramsTest < PeltonTest
  def test_versions
    assert_equal RUBY_VERSION[/\A\d+\.\d+/], Pelton::Lab::Programs.version("ruby")[/\A\d+\.\d+/]
    assert_nil Pelton::Lab::Programs.version("pelton-has-no-such-program")
  end

  def test_finds_a_program
    assert File.executable?(Pelton::Lab::Programs.find("sh"))
  end

  def test_knows_what_is_not_there
    assert_nil Pelton::Lab::Programs.find("pelton-has-no-such-program")
  end
end
