# frozen_string_literal: true

# usage: ruby shards.rb TEST_FILE... -- MINITEST OPTIONS
#
# Runs the test files in several processes, two at once for each core: many tests wait for a process of theirs, or for time.
# What a process printed comes out in one piece, when it has ended. Fails when one of them fails.

require "etc"
require "rbconfig"
require "tempfile"

AT_ONCE = Etc.nprocessors * 2
SHARDS = AT_ONCE * 2 # so that no core is idle for long at the end
LOAD_ALL = 'require File.expand_path(ARGV.shift) while ARGV.first&.end_with?("_test.rb")'

separator = ARGV.index("--") || ARGV.size
files, options = ARGV.take(separator), ARGV.drop(separator + 1)
# The largest files go to different processes.
waiting = files.sort_by { |file| [-File.size(file), file] }.group_by.with_index { |_, i| i % SHARDS }.values
running, failed = {}, false
%w[INT TERM].each do |name|
  trap(name) do
    waiting.clear
    failed = true
    running.each_key { |pid| Process.kill(name, pid) }
  end
end

until waiting.empty? && running.empty?
  while running.size < AT_ONCE && (shard = waiting.shift)
    output = Tempfile.new("shard")
    command = [RbConfig.ruby, "-w", "-Ilib", "-Itest", "-e", LOAD_ALL, "--", *shard, *options]
    running[Process.spawn(*command, out: output, err: output)] = output
  end
  pid, status = Process.wait2
  output = running.delete(pid) or next
  failed ||= !status.success?
  puts File.read(output.path)
  puts "a process of the tests ended by signal #{status.termsig}" if status.signaled?
  output.close!
end
exit !failed
