# frozen_string_literal: true

require_relative "guard"

# A program that runs beside the tests, in a process of its own, until it is stopped or the tests are over. What it
# prints is in a file.
class RunningProgram
  LISTENS = %r{(?:listens on|listening on|serves?) https?://127\.0\.0\.1:(\d+)}i
  private_constant :LISTENS

  attr_reader :pid

  # @return [String] where it runs
  attr_reader :folder

  # @param command [Array<String>]
  # @param environment [Hash{String => String}]
  # @param log [String] the file
  # @param options [Hash] of Process.spawn
  def initialize(command, environment, folder:, log: "#{folder}/log", **options)
    @folder = folder
    @log = log
    @pid = Process.spawn(environment, *command, :chdir => folder, %i[out err] => [log, "a"], **options)
    Guard.kill_at_end(@pid)
  end

  # @return [String] what it has printed
  def output = File.read(@log).scrub

  # @return [Integer, nil] the port of a server, once it says that it listens
  def port = @port ||= output[LISTENS, 1]&.to_i

  # @return [Process::Status, nil]
  def ended? = @status ||= Process.wait2(@pid, Process::WNOHANG)&.last

  # Ends it, unless it has ended.
  #
  # @return [Process::Status]
  def stop(signal = "TERM")
    Process.kill(signal, @pid) unless ended?
    wait
  end

  # @return [Process::Status] when it has ended
  def wait = @status ||= Process.wait2(@pid).last
end

# For PeltonTests.
module RunningPrograms
  # @param options [Hash] of {RunningProgram#initialize}
  # @return [RunningProgram] a program in this folder, without what Bundler has set for the tests
  def start_program(*command, folder:, env: {}, **options)
    RunningProgram.new(command, child_environment.merge(env), folder: folder, **options)
  end

  # Waits until the block is true, and returns what it returns. Fails with the program's output when the program ends,
  # or the time is over.
  #
  # @param program [RunningProgram]
  # @param what [String] it waits for
  def await_program(program, what = "the server", timeout: 60)
    ready = nil
    eventually(what, timeout: timeout) { (ready = yield) || program.ended? || (sleep(0.05) && nil) }
    assert ready, "#{what} has not come: the program has ended"
    ready
  rescue Minitest::Assertion => failure
    raise failure, "#{failure.message}\n#{program.output}"
  end
end
