# frozen_string_literal: true

# What the benchmarks measure by.

def median(values) = values.sort[values.size / 2]

# Seconds that the block takes: by the clock, and of this process's processor time.
def wall_and_processor_time
  clocks = [Process::CLOCK_MONOTONIC, Process::CLOCK_PROCESS_CPUTIME_ID]
  before = clocks.map { |clock| Process.clock_gettime(clock) }
  yield
  clocks.zip(before).map { |clock, start| Process.clock_gettime(clock) - start }
end

def processor_time(&block) = wall_and_processor_time(&block).last

# The block's value, from a process of its own.
def in_child
  reader, writer = IO.pipe
  pid = fork do
    reader.close
    writer.write(Marshal.dump(yield))
    exit!(0)
  end
  writer.close
  Marshal.load(reader.read)
ensure
  Process.wait(pid)
end
