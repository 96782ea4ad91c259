# frozen_string_literal: true

require_relative "../test_helper"
require_relative "running_program"
require_relative "temporary_folder"

class RunningProgramTest < PeltonTest
  include RunningPrograms
  include TemporaryFolder

  def test_it_runs_in_its_folder_until_it_is_stopped
    program = start("trap('TERM') { exit 3 }; $stdout.sync = true; warn Dir.pwd, ENV['X']; puts \"listens on " \
      "http://127.0.0.1:123 (pid 1)\"; sleep", env: {"X" => "set"})

    assert_equal 123, await_program(program) { program.port }
    assert_equal [File.realpath(@folder), "set"], program.output.lines(chomp: true).first(2)
    assert_nil program.ended?
    assert_equal 3, program.stop.exitstatus
    assert_equal [3, 3], [program.stop("KILL"), program.ended?].map(&:exitstatus)
  end

  def test_one_that_ends_too_soon_fails_the_test_with_its_output
    program = start("abort 'no disk'")
    error = assert_raises(Minitest::Assertion) { await_program(program) { program.port } }

    assert_match(/\Athe server has not come: the program has ended$.*no disk/m, error.message)
    assert_equal 1, program.wait.exitstatus
  end

  private

  def start(code, **options)
    start_program(RbConfig.ruby, "--disable=gems", "-e", code, folder: @folder, **options)
  end
end
