# frozen_string_literal: true

require "minitest"

# What the processes of the tests tell the one that has forked them: which test each of them runs, and how long each
# took, in seconds and in seconds of the processor, which are the same on a busy machine. A line is one write, which a
# pipe keeps whole, so that it has arrived even if the process crashes at once.
class ShardProgress
  SLOWEST = 10

  # @return [Integer] tests that have ended
  attr_reader :ended

  def initialize
    @reader, @writer = IO.pipe
    @rest = +""
    @ended = 0
    @last = {}
    @classes = Hash.new { |classes, name| classes[name] = {} }
  end

  # Has Minitest tell of the tests of this process and of its forks.
  def report
    tell = ->(*facts) { @writer.syswrite("#{[Process.pid, *facts].join("\t")}\n") }
    began = nil
    Minitest::ProgressReporter.prepend(Module.new do
      define_method(:prerecord) do |tests, name|
        super(tests, name)
        tell.call(tests, name)
        began = Process.times.sum
      end
      define_method(:record) do |result|
        super(result)
        tell.call(result.klass, result.name, result.time, Process.times.sum - began)
      end
    end)
  end

  # Takes what has been told, without waiting.
  def read
    while (bytes = @reader.read_nonblock(65_536, exception: false)).is_a?(String)
      @rest << bytes
    end
    lines = @rest.slice!(/.*\n/m).to_s.lines(chomp: true)
    lines.each { |line| note(*line.split("\t")) }
  end

  # @return [String, nil] the test that this process runs, or has run last
  def last(pid) = @last[pid.to_s]

  # @return [Array<String>] a line for each of the classes that took longest, with its longest test
  def slowest
    @classes.max_by(SLOWEST) { |_, tests| sum(tests).first }.map do |name, tests|
      longest, (seconds,) = tests.max_by { |_, times| times.first }
      format("slow: %.1f s (%.1f s of the processor) in %s, %.1f s of it in %s", *sum(tests), name, seconds, longest)
    end
  end

  private

  def sum(tests) = tests.values.transpose.map(&:sum)

  def note(pid, tests, name, *seconds)
    @last[pid] = "#{tests}##{name}"
    return if seconds.empty?
    @ended += 1
    @classes[tests][name] = seconds.map(&:to_f)
  end
end
