# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/program/stacks"

class StacksTest < PeltonTest
  # Counts calls until the stack is full: plain ones, and through a block, where each call takes C stack as well.
  DEPTH = <<~RUBY
    def plain = ($calls += 1; plain)
    def block = ($calls += 1; [1].each { block })
    def depth(name) = ($calls = 0; begin; send(name); rescue SystemStackError; end; $calls)
    def depths = [depth(:plain), depth(:block)]
  RUBY

  DEEPEN = 'require "pelton/program/stacks"; Pelton::Stacks.deepen(ARGV);'

  SHALLOW = Pelton::Stacks::SIZES.transform_values { nil }

  def test_a_fiber_gets_as_deep_as_the_main_program
    output = ruby_file(<<~RUBY)
      #{DEEPEN} #{DEPTH}
      require "pelton"
      p depths, Pelton.run { depths }
    RUBY
    main, worker = output.lines.map { |line| line.scan(/\d+/).map(&:to_i) }

    main.zip(worker) { |there, here| assert_operator here, :>, there * 9 / 10 }
  end

  def test_without_it_a_fiber_has_a_fraction
    main, worker =
      ruby_file("#{DEPTH} require 'pelton'; p depths, Pelton.run { depths }").lines.map { |line| line[/\d+/].to_i }

    assert_operator worker, :<, main / 4
  end

  def test_the_program_starts_once_more_with_its_arguments_and_its_input
    output = ruby_file("$stdout.write('started '); $stdout.flush; #{DEEPEN} p ARGV, $stdin.read", "a b", "-c",
      stdin: "input")

    assert_equal "started started [\"a b\", \"-c\"]\n\"input\"\n", output
  end

  def test_sizes_that_are_set_are_kept
    chosen = {"RUBY_FIBER_VM_STACK_SIZE" => "262144", "RUBY_FIBER_MACHINE_STACK_SIZE" => "1048576"}
    output = ruby_file("print 'started '; #{DEEPEN} p ENV.values_at(*Pelton::Stacks::SIZES.keys)", env: chosen)

    assert_equal "started [\"262144\", \"1048576\"]\n", output
  end

  def test_one_that_is_missing_is_added
    output = ruby_file("#{DEEPEN} p ENV.values_at(*Pelton::Stacks::SIZES.keys)",
      env: {"RUBY_FIBER_VM_STACK_SIZE" => "262144"})

    assert_equal "[\"262144\", \"8388608\"]\n", output
  end

  def test_where_the_system_refuses_the_program_goes_on
    output, errors, =
      run_file(
        "require 'pelton/program/stacks'; def (Pelton::Stacks).exec(*) = raise(Errno::E2BIG); #{DEEPEN} puts :on"
      )

    assert_equal "on\n", output
    assert_match(/\Apelton: cannot start again with deep stacks: Argument list too long/, errors)
  end

  def test_a_program_that_is_no_file_goes_on
    output, errors, = run_ruby("#{DEEPEN} puts :on", env: SHALLOW)

    assert_equal "on\n", output
    assert_match(/cannot start again with deep stacks: .*-e/, errors)
  end

  private

  def ruby_file(...)
    output, errors, status = run_file(...)
    assert status.success?, "#{status}\n#{output}\n#{errors}"
    output
  end

  def run_file(code, *arguments, env: {}, stdin: "")
    Tempfile.create(["program", ".rb"]) do |file|
      file.write(code)
      file.close
      loader = "load $PROGRAM_NAME = ENV.fetch('PROGRAM')"
      run_ruby(loader, *arguments, env: {**SHALLOW, "PROGRAM" => file.path, **env}, stdin: stdin)
    end
  end
end
