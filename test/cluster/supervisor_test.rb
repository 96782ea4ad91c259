# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/clusters"

class ClusterSupervisorTest < PeltonTest
  include Clusters

  self.deadline = 120

  def test_a_worker_that_dies_is_replaced
    cluster do
      before = workers
      Process.kill("KILL", before.first)
      now = eventually { two_without(before.first) }

      assert_equal 1, cluster_stats["restarts"]
      assert_match(/worker \d \(#{before.first}\) was killed by signal 9/, log)
      assert_includes now, ask("hello\n").to_i
    end
  end

  # The pauses before a worker that dies again and again is started grow, and the log says how long they are.
  def test_a_worker_that_dies_soon_is_not_started_at_once_again_and_again
    cluster("broken_later") do |master|
      File.write("#{@control}.started", "")
      Process.kill("KILL", workers.first)
      eventually { log.include?("ended with status 1, a new one starts in 3 s") }

      assert_equal ["", ", a new one starts in 1 s", ", a new one starts in 3 s"],
        log.scan(/worker \d \(\d+\) (?:was killed by signal 9|ended with status 1)(.*)/).flatten.first(3)
      assert_equal 1, (workers & @seen).size
    end
  end

  def test_running_workers_go_on_when_no_worker_can_be_forked
    cluster do |master|
      before = workers
      File.write("#{@control}.full", "")
      Process.kill("USR1", master)
      eventually { log.include?("the other workers are not replaced") }
      Process.kill("KILL", before.first)
      eventually do
        log.match?(
          /worker \d cannot be forked, next try in \d+ s: no disk \(RuntimeError\).*was killed by signal 9.*cannot be forked/m
        )
      end

      assert_equal before.last, ask("hello\n").to_i
      File.delete("#{@control}.full")
      assert_includes eventually { two_without(before.first) }, before.last
    end
  end

  def test_when_no_worker_comes_up_it_gives_up
    cluster("broken", serving: false) do
      assert_equal 1, @status.exitstatus
      assert_match(/cannot load.*ended with status 1/m, log)
    end
  end

  # Such as by the kernel, for want of memory.
  def test_one_of_the_first_that_is_killed_while_the_others_start
    cluster("killed") do
      assert_equal 2, ready_workers.size
      assert_equal 1, log.scan("was killed by signal 9").size
    end
  end

  def test_a_number_of_workers
    error = assert_raises(ArgumentError) { Pelton::Cluster::Supervisor.new(nil, workers: 0) {} }
    assert_match(/workers: must .*, not 0/, error.message)
  end

  private

  # Asks for the workers once: between two requests an old worker might be replaced.
  def two_without(pid) = workers.then { |now| now if now.size == 2 && !now.include?(pid) }
end
