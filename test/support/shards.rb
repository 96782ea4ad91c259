# frozen_string_literal: true

# usage: ruby shards.rb [--beside COMMAND] TEST_FILE... -- MINITEST OPTIONS
#
# Runs the test files in several processes, three at once for each core: many tests wait for a process of theirs, or for time.
# The processes are forks of this one, which has loaded the files that all of them need. COMMAND (for a shell) runs beside them.
# The output of a process is printed in one piece, when the process has ended. Fails when one of the processes fails.

require "etc"
require "minitest"
require "tempfile"
require "pelton"

AT_ONCE = Etc.nprocessors * 3
SHARDS = AT_ONCE * 2 # so that no core is idle for long at the end

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

running, failed = {}, false
stop = proc do |number|
  jobs.clear
  failed = true
  running.each_key { |pid| Process.kill(number, pid) }
end
%w[INT TERM].each { |name| trap(name, &stop) }

until jobs.empty? && running.empty?
  while running.size < AT_ONCE && (job = jobs.shift)
    output = Tempfile.new("shard")
    pid = fork do
      %w[INT TERM].each { |name| trap(name, "DEFAULT") }
      File.open(output.path, "w") { |log| [$stdout, $stderr].each { |io| io.reopen(log) } }
      job.call
    end
    running[pid] = output
  end
  pid, status = Process.wait2
  output = running.delete(pid) or next
  failed ||= !status.success?
  puts File.read(output.path)
  puts "a process of the tests ended by signal #{status.termsig}" if status.signaled?
  output.close!
end
exit !failed
