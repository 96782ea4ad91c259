# frozen_string_literal: true

# usage: ruby shards.rb [--beside COMMAND] [--at-once N] TEST_FILE... -- MINITEST OPTIONS
#
# Runs the test files in several processes, N at once (three for each core: many tests wait for a process of theirs, or
# for time). The processes are forks of this one, which has loaded the files that all of them need. COMMAND (for a
# shell) runs beside them. The output of a process is printed in one piece, when the process has ended; until then a
# line tells now and then how many tests have ended, if more have ended than before. bin/test takes these lines as
# progress.
#
# Tests that failed run once more when no others run, because a test that starts servers of its own may meet their
# deadlines on a busy machine. The first output is indented, so that bin/test does not count it, and followed by the
# count of what passed. A process that ended by a signal has crashed, in the test that is named, and does not run again.
# Fails when a test fails for good. At the end it names the classes of tests that took longest, in seconds that count
# several times where several processes ran.

require "etc"
require "minitest"
require "tempfile"
require "pelton"
require_relative "shard_progress"
require_relative "signature_checker"
SignatureChecker.start

at_once = ARGV.index("--at-once")
AT_ONCE = at_once ? Integer(ARGV.slice!(at_once, 2).last) : Etc.nprocessors * 3
SHARDS = [AT_ONCE * 2, 48].max # so that no core is idle for long at the end

separator = ARGV.index("--") || ARGV.size
files, options = ARGV.take(separator), ARGV.drop(separator + 1)
beside = files.shift(2).last if files.first == "--beside"
# The files whose tests may take longest, and the largest, go to different processes, and first. Called with tests'
# names, a job runs these alone.
deadline = ->(file) { File.read(file)[/^  self\.deadline = (\d+)/, 1].to_i }
# Tests of test/shared run several times, in the styles of a library.
size = lambda do |file|
  shared = File.read(file).scan(%r{/shared/(\w+)"}).map { |(name)| "test/shared/#{name}.rb" }
  File.size(file) + 5 * shared.sum { |one| File.exist?(one) ? File.size(one) : 0 }
end
waiting =
  files.sort_by { |file| [-deadline[file], -size[file], file] }.group_by.with_index { |_, i| i % SHARDS }.values
jobs = waiting.map do |shard|
  proc do |names = []|
    only = ["--name", "/\\A(#{names.map { |name| Regexp.escape(name) }.join("|")})\\z/"] unless names.empty?
    ARGV.replace(["--no-plugins", *options, *only])
    shard.each { |file| require File.expand_path(file) } # the tests run when the process ends
  end
end
jobs.unshift(proc { exec beside }) if beside

INTERVAL = 10 # seconds between two lines of progress
$stdout.sync = true

running, crashed = {}, false
stop = proc do |number|
  crashed = true
  jobs.clear
  running.each_key { |pid| Process.kill(number, pid) }
end
%w[INT TERM].each { |name| trap(name, &stop) }

progress = ShardProgress.new
progress.report

now = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) }
told, due = 0, now.call + INTERVAL
# Waits for the next process to end.
wait = lambda do
  until (found = Process.wait2(-1, Process::WNOHANG))
    sleep 0.02
    progress.read
    next if now.call < due
    due = now.call + INTERVAL
    puts "... #{told = progress.ended} tests have ended, #{running.size} processes run" if progress.ended > told
  end
  progress.read
  found
end

# Runs the jobs, so many at once, and yields the output of each. Returns the jobs whose process failed without a crash.
run = lambda do |jobs, at_once, &shown|
  failed = []
  until jobs.empty? && running.empty?
    while running.size < at_once && (job = jobs.shift)
      output = Tempfile.new("shard")
      pid = fork do
        %w[INT TERM].each { |name| trap(name, "DEFAULT") }
        File.open(output.path, "w") { |log| [$stdout, $stderr].each { |io| io.reopen(log) } }
        $stderr.sync = true # as before: a process that crashes must have said what it did
        job.call
      end
      running[pid] = [job, output]
    end
    pid, status = wait.call
    job, output = running.delete(pid) || next
    said = File.read(output.path)
    failed << [job, said] unless status.success? || status.signaled?
    shown.call(said, status)
    if status.signaled?
      crashed = true
      puts "a process of the tests ended by signal #{status.termsig}#{progress.last(pid)&.prepend(" in ")}"
    end
    output.close!
  end
  failed
end

# Of what Minitest wrote: how many tests failed, and how many passed and were skipped.
counts = lambda do |output|
  runs, failures, errors, skips = output.scan(/^(\d+) runs, \d+ assertions, (\d+) failures, (\d+) errors, (\d+) skips/)
    .map { |numbers| numbers.map(&:to_i) }.transpose.map(&:sum)
  runs ? [failures + errors, runs - failures - errors - skips, skips] : [0, 0, 0]
end
first_failed = 0
again = run.call(jobs, AT_ONCE) do |output, status|
  next puts(output) if status.success? || status.signaled?
  failed, passed, skipped = counts.call(output)
  passed = skipped = 0 if failed.zero? # the process failed beside its tests, and all of it runs again
  first_failed += failed
  puts output.gsub(/^/, "first time: "), "first_time: #{passed} passed, 0 failed, #{skipped} skipped"
end
jobs = crashed ? [] : again.map do |job, output|
  names = output.scan(/^ +\d+\) (?:Failure|Error):\n(\S+#test_\S+?)(?: \[|:$)/).flatten
  proc { job.call(names) }
end
unless crashed
  jobs = run.call(jobs, 1) do |output, status|
    failed = counts.call(output).first
    first_failed -= failed
    puts "once more, alone:", output
    puts "a process of the tests failed, but none of its tests: #{status}" if failed.zero? && !status.success?
  end
  puts "failed first and passed alone: #{[first_failed, 0].max}"
end
puts progress.slowest
exit jobs.empty? && !crashed
