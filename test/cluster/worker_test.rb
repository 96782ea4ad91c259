# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/cluster"

class ClusterWorkerTest < PeltonTest
  Worker = Pelton::Cluster::Worker

  def setup
    @worker = Worker.start(3) do |pipe|
      at_exit { exit!(0) } # skips the at_exit blocks of the tests
      while (line = pipe.gets)
        next pipe.write("tasks [{\"name\":\"a\"}]\n") if line == "tasks\n"
        next pipe.write("readiness [null]\n") if line == "readiness\n"
        next pipe.write("purged [7,2]\n") if line == "purge 7 /a\n"
        pipe.write("ready\nstats {\"cut\nstats {\"n\":1}\n")
        exit!({"stop\n" => 5, "finish\n" => 6, "hangup\n" => 7}[line]) if line != "say\n"
      end
    end
  end

  def teardown
    @worker.kill
    eventually { @worker.reap } unless @status
  end

  def test_its_messages_are_read_and_it_stops
    refute_predicate @worker, :ready?
    @worker.pipe.write("say\n")
    eventually { @worker.read_messages || @worker.ready? }
    eventually { @worker.read_messages || !@worker.stats.empty? }
    assert_equal 3, @worker.index
    assert_equal({"n" => 1}, @worker.stats)

    @worker.stop
    refute_predicate @worker, :ready?
    assert_predicate @worker, :stopping?
    @status = eventually { @worker.reap }
    assert_equal 5, @status.exitstatus
    assert_predicate @worker.pipe, :closed?
    assert_nil @worker.stop
  end

  def test_a_large_report_is_read_whole
    large = {"n" => "x" * 180_000}
    worker = Worker.start(4) do |pipe|
      at_exit { exit!(0) }
      exit!((pipe.write_nonblock("stats #{JSON.generate(large)}\n") > 180_000) ? 0 : 1)
    end
    status = eventually { worker.reap }

    assert_equal 0, status.exitstatus
    assert_equal large, worker.stats
  ensure
    worker&.kill
  end

  def test_its_last_report_is_read_when_it_has_ended
    @worker.pipe.write("say\nstop\n")
    @status = eventually { @worker.reap }

    assert_equal({"n" => 1}, @worker.stats)
  end

  def test_it_is_asked_for_its_tasks
    assert_nil @worker.tasks
    @worker.ask_for_tasks
    eventually { @worker.read_messages || @worker.tasks }

    assert_equal [{"name" => "a"}], @worker.tasks
  end

  def test_it_is_asked_whether_it_is_ready
    assert_nil @worker.readiness
    @worker.ask_for_readiness
    eventually { @worker.read_messages || @worker.readiness }

    assert_equal [nil], @worker.readiness
  end

  def test_it_is_asked_to_purge
    @worker.ask_to_purge(7, "/a")
    eventually { @worker.read_messages || @worker.purged }

    assert_equal [7, 2], @worker.purged
  end

  # By process 1, which waits for all processes.
  def test_its_status_may_be_known_already
    @worker.stop
    _, status = Process.wait2(@worker.pid)
    @status = @worker.reap(status)

    assert_equal 5, @status.exitstatus
    assert_equal true, @worker.pipe.closed?
  end

  def test_it_gets_a_hangup
    @worker.hang_up
    @status = eventually { @worker.reap }

    assert_equal 7, @status.exitstatus
    assert_nil @worker.hang_up
  end

  def test_it_knows_whether_others_go_on
    @worker.stop(final: true)
    @status = eventually { @worker.reap }

    assert_equal 6, @status.exitstatus
  end

  def test_it_can_be_killed
    @worker.kill
    @status = eventually { @worker.reap }

    assert_equal Signal.list["KILL"], @status.termsig
    assert_nil @worker.kill
    @worker.stop
    assert_predicate @worker, :stopping?
  end
end
