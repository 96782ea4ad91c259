# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/cluster"

class ClusterMemoryTest < PeltonTest
  Memory = Pelton::Cluster::Memory
  Worker = Struct.new(:index, :pid, :started)

  def worker(age, index: 0, pid: Process.pid) = Worker.new(index, pid, Pelton::Clock.now - age)

  def test_the_memory_of_a_process
    own = Memory.of(Process.pid)
    kilobytes = Integer(File.read("/proc/self/status")[/^VmRSS:\s+(\d+) kB/, 1])

    assert_in_delta kilobytes * 1024, own, kilobytes * 512
    assert_nil Memory.of(2**22 + 1) # beyond the kernel's highest number
  end

  def test_a_worker_beyond_the_limit_is_found
    found = worker(100)

    assert_equal [found, true], Memory.new(1, 60).beyond_limit([found]).then { |one, bytes| [one, bytes > 1_000_000] }
    assert_nil Memory.new(2**50, 60).beyond_limit([found])
    assert_nil Memory.new(1, 60).beyond_limit([worker(100, pid: 2**22 + 1)])
    assert_nil Memory.new(Float::INFINITY, 0).beyond_limit([found])
  end

  def test_one_is_found_at_a_time_and_not_before_its_time
    memory = Memory.new(1, 60)
    workers = [worker(59, index: 0), worker(100, index: 1), worker(100, index: 2)]

    assert_equal [1, 2, nil], Array.new(3) { memory.beyond_limit(workers)&.first&.index }
    assert_equal({1 => 1, 2 => 1}, memory.counts)
  end

  # A limit that even new workers pass would otherwise replace them all the time.
  def test_the_time_doubles_where_new_workers_are_beyond_the_limit_as_well
    memory = Memory.new(1, 60)
    later = lambda do |seconds|
      memory.instance_variable_get(:@not_before).transform_values! { |time| time - seconds }
      memory.beyond_limit([worker(seconds)])
    end

    assert memory.beyond_limit([worker(61)])
    assert_nil later[119] # of the two minutes that it waits now
    assert later[121]
    assert_nil later[239]
    assert later[10_000] # the program takes long to grow after all
    assert later[61]
  end
end
