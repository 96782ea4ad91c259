# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/clusters"

# A cluster's signals, and the ends of its workers.
class ClusterTest < PeltonTest
  include Clusters

  self.deadline = 120

  def test_a_worker_that_takes_too_long_to_stop_is_killed
    cluster("slow_stop") do |master|
      stop(master)

      assert_equal 0, @status.exitstatus
      assert_empty living(@seen)
    end
  end

  def test_a_worker_that_hangs_is_killed_and_replaced
    cluster("hung") do
      Thread.new { ask("hang\n") }.report_on_exception = false
      eventually { log.match?(/has not reported: killed/) }
      eventually { workers.size == 2 }
    end
  end

  # The old worker goes on until the new one serves, and finishes what it does.
  def test_a_worker_beyond_the_limit_of_memory_is_replaced
    skip "valgrind needs memory itself" if VALGRIND
    cluster("memory") do
      Socket.tcp("127.0.0.1", @port) do |socket|
        socket.write("grow\n")
        grown = socket.gets.to_i
        eventually { log.match?(/worker \d \(#{grown}\) has \d{3} MB of memory, which is beyond the limit/) }
        socket.write("sleep\n")

        assert_equal "#{grown} sleep\n", socket.gets
        eventually { workers.then { |now| now.size == 2 && !now.include?(grown) } }
        assert_equal [grown], living([grown])
      end
      eventually { living(@seen).size == 1 }

      assert_equal [1, 0], cluster_stats.values_at("memory_replacements", "restarts")
      assert_match(/^pelton_worker_memory_replacements_total\{worker="\d"\} 1$/, control("/metrics"))
      assert_match(/^pelton_worker_memory_bytes\{worker="0"\} \d{7,}$/, control("/metrics"))
      refute_match(/all workers are new/, log)
    end
  end

  def test_whether_it_is_alive_and_ready
    cluster("slow_stop") do |master|
      assert_equal %W[ok\n ok\n], [control("/live"), control("/ready")]
      File.write("#{@control}.unready", "")

      assert_equal %W[ok\n not\ ready\n], [control("/live"), control("/ready")]
      Process.kill("TERM", master)
      eventually { log.include?("stops") }

      assert_equal %W[ok\n it\ stops\n], [control("/live"), control("/ready")]
      wait_for(master)
    end
  end

  def test_usr1_keeps_the_old_workers_when_a_new_one_cannot_start
    cluster("broken_later") do |master|
      before = workers
      File.write("#{@control}.started", "")
      Process.kill("USR1", master)
      eventually { log.include?("the other workers are not replaced") }

      assert_equal before.sort, workers.sort
      assert_includes before, ask("hello\n").to_i
    end
  end

  def test_usr2_starts_the_program_again_with_the_same_sockets
    cluster("preload") do |master|
      before = workers
      Process.kill("USR2", master)
      late = Thread.new { ask("hello\n") } # the connection waits in the backlog when it arrives between the two workers
      eventually { log.scan("preloads").size == 2 && (workers - before).size == 2 }

      assert_equal master, cluster_stats["pid"]
      assert_match(/hello/, late.value)
    end
  end

  def test_hup_calls_the_hook
    cluster do |master|
      Process.kill("HUP", master)
      eventually { log.include?("hangs up") }
    end
  end

  def test_workers_end_with_their_master
    cluster do |master|
      Process.kill("KILL", master)
      Process.wait(master)
      @status = $?
      eventually { living(@seen).empty? }
    end
  end

  def test_the_second_signal_ends_all_at_once
    cluster("slow_stop") do |master|
      Process.kill("TERM", master)
      eventually { log.include?("stops") }
      Process.kill("TERM", master)
      Process.wait(master)
      @status = $?

      assert_equal 0, @status.exitstatus
    end
  end

  def test_the_service_manager_is_notified
    Dir.mktmpdir do |folder|
      manager = Socket.new(:UNIX, :DGRAM)
      manager.bind(Addrinfo.unix("#{folder}/notify"))
      cluster(env: {"NOTIFY_SOCKET" => "#{folder}/notify", "WATCHDOG_USEC" => "200000"}) do |master|
        notices = +""
        eventually do
          notices << manager.recv(1000) && notices.include?("WATCHDOG=1") &&
            notices.include?("READY=1\nMAINPID=#{master}")
        end
        stop(master)
        notices << manager.recv(1000) until notices.include?("STOPPING=1")
      end
    ensure
      manager.close
    end
  end
end
