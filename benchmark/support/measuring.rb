# frozen_string_literal: true

# The benchmarks' measurements and medians.

def median(values) = values.sort[values.size / 2]

# The block's wall-clock time and this process's CPU time, in seconds.
def wall_and_processor_time
  clocks = [Process::CLOCK_MONOTONIC, Process::CLOCK_PROCESS_CPUTIME_ID]
  before = clocks.map { |clock| Process.clock_gettime(clock) }
  yield
  clocks.zip(before).map { |clock, start| Process.clock_gettime(clock) - start }
end

def processor_time(&block) = wall_and_processor_time(&block).last

# Runs the block in a process of its own, and returns its value.
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
