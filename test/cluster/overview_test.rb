# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/clusters"

class ClusterOverviewTest < PeltonTest
  include Clusters

  self.deadline = 120

  Snapshot = Pelton::Cluster::Supervisor::Snapshot
  Worker = Struct.new(:index, :ready, :stopping, :tasks, :readiness, :stats, :families, :asked, :purged, :silent) do
    def pid = Process.pid

    def ready? = ready

    def stopping? = stopping

    def ask_for_tasks = self.asked = :tasks

    def ask_for_readiness = self.asked = :readiness

    def ask_to_purge(number, path)
      self.asked = path
      self.purged = [number, index + 1] unless silent
    end
  end

  def test_prometheus_gets_all_worker_indexes_and_the_ended_workers
    cluster do
      3.times { ask("hello\n") }
      eventually { metrics("answered_total").values.sum == 3 }
      Process.kill("KILL", workers.first)
      eventually do
        metrics("pelton_worker_restarts_total").values.sum == 1 && metrics("pelton_worker_up") == {"0" => 1, "1" => 1}
      end

      assert_equal 3, metrics("answered_total").values.sum
      assert_includes control("/metrics"), "# TYPE answered_total counter\n"
      assert_includes control("/metrics"), "\npelton_workers_wanted 2\n"
    end
  end

  def test_what_each_worker_is
    stats = overview([worker(0), worker(1, ready: false, stopping: true)], restarts: {0 => 2, 1 => 1}).stats

    assert_equal [Process.pid, 2, 3, 0], stats.values_at(:pid, :wanted, :restarts, :memory_replacements)
    assert_equal [[0, true, false], [1, false, true]],
      stats[:workers].map { |one| one.values_at(:index, :ready, :stopping) }
  end

  def test_the_tasks_of_workers_that_are_ready
    asked = worker(0, tasks: [{"name" => "one"}])
    silent = worker(1)

    assert_equal({0 => [{"name" => "one"}], 1 => nil}, overview([asked, silent, worker(2, ready: false)]).tasks)
    assert_equal %i[tasks tasks], [asked.asked, silent.asked]
  end

  def test_one_worker_that_is_ready_is_enough
    assert_nil overview([worker(0, readiness: ["no database"]), worker(1, readiness: [nil])]).obstacle
    assert_equal "no database", overview([worker(0, readiness: ["no database"])]).obstacle
    assert_equal "worker 0 does not answer", overview([worker(0)]).obstacle
    assert_equal "no worker serves yet", overview([worker(0, ready: false)]).obstacle
    assert_equal "it stops", overview([worker(0)], state: :stopped).obstacle
  end

  def test_one_worker_that_is_ready_need_not_wait_for_the_others
    cluster = overview([worker(0), worker(1, readiness: [nil])])
    cluster.stub(:sleep, ->(_) { flunk }) { assert_nil cluster.obstacle }
  end

  def test_the_caches_of_workers_that_serve_are_purged
    all = [worker(0), worker(1), worker(2, ready: false)]
    cluster = overview(all)

    assert_equal({purged: 3}, cluster.purge("/a"))
    assert_equal %w[/a /a], all.take(2).map(&:asked)
    assert_nil all[2].asked
    all[1].silent = true # its last answer is to another question
    assert_equal "worker 1 does not answer", cluster.purge("/b")
  end

  def test_a_master_that_stands_still
    assert_nil overview([]).standstill
    assert_nil overview([], turned: Float::INFINITY).standstill
    assert_match(/\Athe master has stood still for 1[12] s\z/, overview([], turned: Pelton::Clock.now - 11).standstill)
  end

  private

  def worker(index, ready: true, stopping: false, tasks: nil, readiness: nil)
    Worker.new(index, ready, stopping, tasks, readiness, {}, {})
  end

  def overview(workers, state: nil, restarts: {}, turned: Pelton::Clock.now)
    now = Snapshot.new(workers, 2, state, restarts, {}, {}, turned)
    supervisor = Object.new
    supervisor.define_singleton_method(:snapshot) { now }
    Pelton::Cluster::Overview.new(supervisor, {})
  end

  def metrics(name)
    control("/metrics").scan(/^#{name}\{worker="(\d)"\} (\d+)$/).to_h { |worker, value| [worker, value.to_i] }
  end
end
