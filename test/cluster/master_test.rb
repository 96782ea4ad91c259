# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/clusters"

# The other signals are tested in test/integration/cluster_test.rb.
class ClusterMasterTest < PeltonTest
  include Clusters

  self.deadline = 120

  def test_workers_serve_until_the_master_is_stopped
    cluster do |master|
      assert_equal 2, workers.size
      assert_includes workers, ask("hello\n").to_i
      stop(master)

      assert_equal 0, @status.exitstatus
      assert_empty living(@seen)
    end
  end

  # Also one that takes the place of another.
  def test_workers_count_together
    cluster do
      asked = []
      all = lambda do |count|
        eventually do
          asked << ask("count\n").split.map(&:to_i)
          asked.map(&:first).uniq.size == count
        end
      end
      all.call(2)
      Process.kill("KILL", asked.last.first)
      all.call(3)

      assert_equal (1..asked.size).to_a, asked.map(&:last)
    end
  end

  def test_ttin_and_ttou_change_the_number_of_workers
    cluster do |master|
      Process.kill("TTIN", master)
      eventually { workers.size == 3 }
      2.downto(1) do |count| # the system merges two pending signals of the same number
        Process.kill("TTOU", master)
        eventually { cluster_stats["wanted"] == count }
      end
      # A worker that is stopping may still answer
      left = eventually { cluster_stats["workers"].then { |all| all.size == 1 && all } }
      assert_equal left[0]["pid"], ask("hello\n").to_i
    end
  end

  def test_the_programs_own_handlers_of_signals_are_back_afterwards
    assert_equal "0\nmine\n", ruby_output(<<~RUBY)
      require "pelton/cluster"
      trap("USR2") { puts "mine" }
      sockets = Pelton::Cluster::Sockets.open([])
      puts Pelton::Cluster::Master.new(sockets, workers: 1) { Process.kill("TERM", Process.ppid) }.run
      Process.kill("USR2", Process.pid) && sleep(0.01)
    RUBY
  end
end
