# frozen_string_literal: true

require "open3"
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

  def test_run_runs_a_program_as_ruby_would_with_deep_stacks
    Tempfile.create(["program", ".rb"]) do |file|
      file.write("p ARGV, $0 == __FILE__, ENV['RUBY_FIBER_VM_STACK_SIZE']; exit 3")
      file.close
      output, status = Open3.capture2({"RUBY_FIBER_VM_STACK_SIZE" => nil}, *PELTON, "run", file.path, "--one", "two")

      assert_equal "[\"--one\", \"two\"]\ntrue\n\"1048576\"\n", output
      assert_equal 3, status.exitstatus
    end
  end

  def test_help_for_a_command
    [%w[help], %w[help --help], %w[--help]].each do |command|
      assert_output(/\Ausage: pelton COMMAND/) { assert_equal 0, Pelton::Command.run(command) }
    end
    assert_output(/\Ausage: pelton serve/) { assert_equal 0, Pelton::Command.run(%w[help serve]) }
    assert_output(/\Ausage: pelton memcached/) { assert_equal 0, Pelton::Command.run(%w[help memcached]) }
    [%w[help run], %w[run --help], %w[run -h]].each do |command|
      assert_output(/\Ausage: pelton run FILE/) { assert_equal 0, Pelton::Command.run(command) }
    end
    assert_output("", /no command "nonsense".*usage:/m) { assert_equal 2, Pelton::Command.run(%w[help nonsense]) }
  end

  def test_run_needs_a_file
    assert_output("", /usage: pelton run FILE/) { assert_equal 2, Pelton::Command.run(["run"]) }
    assert_output("", /there is no file nowhere.rb/) { assert_equal 2, Pelton::Command.run(["run", "nowhere.rb"]) }
  end

  # test/http/command_test.rb has real ones.
  def test_without_workers_it_serves_in_this_process
    require "pelton/http/command"
    log = []
    launcher = Object.new
    {app: -> { log << :app }, on_stop: ->(&_) {}, run: ->(sockets:, stop_limit:) { log << [:run, stop_limit] && 7 }}
      .each { |name, work| launcher.define_singleton_method(name, &work) }
    configuration = Struct.new(:workers, :addresses, :shutdown_timeout).new(0, {}, 10)
    serve = ->(_, **, &processes) { processes.call(launcher, configuration) }

    assert_equal 7, Pelton::HTTP::Command.stub(:run, serve) { Pelton::Command.run(%w[serve]) }
    assert_equal [:app, [:run, 10 + Pelton::Command::STOP_GRACE]], log
  end

  def test_new_is_in_a_gem_of_its_own
    assert_output(/\Ausage: pelton new APP/) { assert_equal 0, Pelton::Command.run(%w[new --help]) }
    assert_output(/\Ausage: pelton new APP/) { assert_equal 0, Pelton::Command.run(%w[help new]) }
    output, status = Open3.capture2e(child_environment, RbConfig.ruby, "--disable=gems", "-I#{Children::LIB}",
      File.join(ROOT, "exe/pelton"), "new", "shop")

    assert_equal 2, status.exitstatus
    assert_equal true, output.include?("gem install pelton-web")
  end

  def test_the_lab_names_its_gem_where_it_is_not_installed
    output, status = Open3.capture2e(child_environment, RbConfig.ruby, "--disable=gems", "-I#{Children::LIB}",
      File.join(ROOT, "exe/pelton"), "lab", "--list")

    assert_equal 2, status.exitstatus
    assert_equal "pelton lab: this command is in a gem of its own: gem install pelton-lab, or add gem \"pelton-lab\" " \
      "to the Gemfile\n", output
  end

  # Also where Ruby's warnings are off.
  def test_an_unknown_command_is_an_error_on_stderr
    [true, nil].each do |verbose|
      before, $VERBOSE = $VERBOSE, verbose
      assert_output("", /no command "nonsense".*usage:/m) { assert_equal 2, Pelton::Command.run(["nonsense"]) }
    ensure
      $VERBOSE = before
    end
  end
end
