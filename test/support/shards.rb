# frozen_string_literal: true

# usage: ruby shards.rb [--beside COMMAND | --one-by-one] TEST_FILE... -- MINITEST OPTIONS
#
# Runs the test files in several processes, three at once for each core: many tests wait for a process of theirs, or for time.
# The processes are forks of this one, which has loaded the files that all of them need. COMMAND (for a shell) runs beside them.
# The output of a process is printed in one piece, when the process has ended.
#
# A process whose tests failed runs once more when no other runs, because a test that starts servers of its own may meet their
# deadlines on a busy machine. Both outputs are printed, the first one indented, so that bin/test counts the second one alone. A
# process that ended by a signal has crashed, and does not run again. Fails when a process fails for good.

require "etc"
require "minitest"
require "tempfile"
require "pelton"

one_by_one = ARGV.first == "--one-by-one" && ARGV.shift
AT_ONCE = one_by_one ? 1 : Etc.nprocessors * 3
SHARDS = one_by_one ? 12 : AT_ONCE * 2 # so that no core is idle for long at the end

separator = ARGV.index("--") || ARGV.size
files, options = ARGV.take(separator), ARGV.drop(separator + 1)
beside = files.shift(2).last if files.first == "--beside"
# The largest files go to different processes.
waiting = files.sort_by { |file| [-File.size(file), file] }.group_by.with_index { |_, i| i % SHARDS }.values
jobs = waiting.map do |shard|
  proc do
    ARGV.replace(["--no-plugins", *options])
    shard.each { |file| require File.expand_path(file) } # the tests run when the process ends
  end
end
jobs.unshift(proc { exec beside }) if beside

running, crashed = {}, false
stop = proc do |number|
  crashed = true
  jobs.clear
  running.each_key { |pid| Process.kill(number, pid) }
end
%w[INT TERM].each { |name| trap(name, &stop) }

# Runs the jobs, so many at once, and yields the output of each. Returns the jobs whose process failed without a crash.
run = lambda do |jobs, at_once, &shown|
  failed = []
  until jobs.empty? && running.empty?
    while running.size < at_once && (job = jobs.shift)
      output = Tempfile.new("shard")
      pid = fork do
        %w[INT TERM].each { |name| trap(name, "DEFAULT") }
        File.open(output.path, "w") { |log| [$stdout, $stderr].each { |io| io.reopen(log) } }
        job.call
      end
      running[pid] = [job, output]
    end
    pid, status = Process.wait2
    job, output = running.delete(pid) || next
    failed << job unless status.success? || status.signaled?
    shown.call(File.read(output.path), status)
    if status.signaled?
      crashed = true
      puts "a process of the tests ended by signal #{status.termsig}"
    end
    output.close!
  end
  failed
end

failures = ->(output) { output.scan(/^\d+ runs, \d+ assertions, (\d+) failures, (\d+) errors/).flatten.sum(&:to_i) }
failed = 0
jobs = run.call(jobs, AT_ONCE) do |output, status|
  puts((status.exitstatus || 0).zero? ? output : output.gsub(/^/, "first time: "))
  failed += failures.call(output)
end
unless crashed
  jobs = run.call(jobs, 1) do |output, _|
    puts "once more, alone:", output
    failed -= failures.call(output)
  end
  puts "failed first and passed alone: #{[failed, 0].max}"
end
exit jobs.empty? && !crashed
