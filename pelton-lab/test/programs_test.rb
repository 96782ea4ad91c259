# frozen_string_literal: true

require "test_helper"
require "pelton/lab/programs"
require "tempfile"

class LabProgramsTest < PeltonTest
  def test_versions
    assert_equal RUBY_VERSION[/\A\d+\.\d+/], Pelton::Lab::Programs.version("ruby")[/\A\d+\.\d+/]
    assert_nil Pelton::Lab::Programs.version("pelton-has-no-such-program")
  end

  def test_finds_a_program
    assert File.executable?(Pelton::Lab::Programs.find("sh"))
  end

  def test_a_missing_program_has_no_path
    assert_nil Pelton::Lab::Programs.find("pelton-has-no-such-program")
  end

  def test_a_free_port
    port = Pelton::Lab::Programs.free_port

    assert_includes 10_000...32_768, port
    assert_raises(Errno::ECONNREFUSED) { TCPSocket.new("127.0.0.1", port) }
  end

  def test_a_program_tied_to_the_lab_runs
    assert_equal "hello\n", IO.popen([*Pelton::Lab::Programs.tied, "echo", "hello"], &:read)
  end

  def test_last_words
    Tempfile.create("log") do |log|
      assert_nil Pelton::Lab::Programs.last_words(log.path)
      File.binwrite(log.path, "first\n  the last \xFF one\n\n \n")
      assert_equal "the last \uFFFD one", Pelton::Lab::Programs.last_words(log.path)
    end
  end
end
