# frozen_string_literal: true

# usage: ruby run_tests.rb REPORT [--all] TEST_FILE...
#
# Runs these tests in the order of the files. After the first that fails no other begins, but with --all. REPORT gets
# the seconds of each file, and the files that failed.

require "json"
require "minitest"

REPORT = ARGV.shift
ALL = ARGV.delete("--all")
FILES = ARGV.dup
ARGV.replace(%w[--no-plugins --seed 1])

seconds = Hash.new(0)
failed = []
owners = {}
now = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) }

in_order = Module.new { define_method(:shuffle) { self } }
until_failure = Module.new do
  define_method(:run) { |*arguments| super(*arguments) if ALL || failed.empty? }
  define_method(:run_one_method) { |*arguments| super(*arguments) if ALL || failed.empty? }
end
counting = Module.new do
  define_method(:record) do |result|
    super(result)
    file = owners[result.klass]
    seconds[file] += result.time
    failed |= [file] unless result.passed? || result.skipped?
  end
end
Minitest::Runnable.singleton_class.prepend(until_failure)
Minitest::ProgressReporter.prepend(counting)

owner = Process.pid
Minitest.after_run { File.write(REPORT, JSON.generate(seconds: seconds, failed: failed)) if Process.pid == owner }
FILES.each do |file|
  known = Minitest::Runnable.runnables.dup
  began = now.call
  require File.expand_path(file)
  seconds[file] += now.call - began
  (Minitest::Runnable.runnables - known).each { |tests| owners[tests.name] = file }
end
Minitest::Runnable.runnables.extend(in_order)
