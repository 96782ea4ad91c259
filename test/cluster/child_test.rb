# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/cluster"
require "socket"

# The child runs in the test's own process, so the tests restore the signal handlers.
class ClusterChildTest < PeltonTest
  def setup
    @handlers = %w[INT TERM HUP TTIN].to_h { |name| [name, Signal.trap(name, "DEFAULT")] }
    @own, @masters = UNIXSocket.pair
    @log = []
    @sources = Pelton::Metrics.instance_variable_get(:@sources) # other gems of this process may count, too
    Pelton::Metrics.instance_variable_set(:@sources, [])
  end

  def teardown
    @handlers.each { |name, handler| Signal.trap(name, handler) }
    [@own, @masters].each(&:close)
    Pelton::Metrics.instance_variable_set(:@sources, @sources)
  end

  def test_it_reports_that_it_is_ready_and_its_stats
    @masters.write("stop\n")
    child { |worker| worker.stats { {requests: 3} } }

    assert_equal "ready\n", @masters.gets
    assert_equal "stats {\"requests\":3}\n", @masters.gets
  end

  # The master does not load the application.
  def test_it_says_what_the_application_counts
    source = Pelton::Metrics.add("jobs" => Pelton::Metrics::Family.new("counter", "jobs_total",
      "Jobs.")) { {"jobs" => 2} }
    @masters.write("stop\n")
    child { |worker| worker.stats { {requests: 3} } }

    assert_equal ["ready\n", %(families {"jobs":["counter","jobs_total","Jobs.",null]}\n),
      %(stats {"requests":3,"jobs":2}\n)], Array.new(3) { @masters.gets }
  ensure
    Pelton::Metrics.remove(source)
  end

  def test_it_loads_before_its_reactor_runs
    @masters.write("stop\n")
    Pelton::Cluster::Child.new(0, nil, @own).run(-> { @log << Pelton.running? }) { @log << Pelton.running? }

    assert_equal [false, true], @log
  end

  def test_it_tells_its_tasks
    @masters.write("tasks\nstop\n")
    child do |worker|
      worker.on_stop { sleep 0.01 }
      Pelton.spawn(name: "forever", transient: true) { sleep }
    end
    @own.close
    tasks = JSON.parse(@masters.read[/^tasks (.*)/, 1])

    assert_includes tasks.map { |task| task["name"] }, "forever"
  end

  def test_it_says_whether_it_is_ready
    @masters.write("readiness\n")
    child do |worker|
      worker.readiness { sleep(0.001) && "no database" }
      Pelton.spawn(transient: true) do
        @log << @masters.gets until @log.last.to_s.start_with?("readiness") && @masters.write("stop\n")
      end
    end

    assert_equal "readiness [\"no database\"]\n", @log.last
  end

  def test_it_purges
    @masters.write("purge 3 /a b/*\n")
    child do |worker|
      worker.purge { |path| @log << path and 2 }
      Pelton.spawn(transient: true) do
        @log << @masters.gets until @log.last.to_s.start_with?("purged") && @masters.write("stop\n")
      end
    end

    assert_includes @log, "/a b/*"
    assert_equal "purged [3,2]\n", @log.last
  end

  def test_its_last_report_comes_when_all_is_done
    count = 0
    @masters.write("stop\n")
    child do |worker|
      worker.stats { {n: count} }
      worker.on_stop { count += 1 }
    end
    @own.close

    assert_equal "stats {\"n\":1}\n", @masters.read.lines.last
  end

  # Also when it was stopped already as its master ended, whose child it is still.
  def test_whether_its_master_has_ended
    orphaned = {}
    endings = {"stopped" => -> { @masters.write("stop\n") }, "left" => -> { @masters.close },
               "stopped, then left" => -> { @masters.write("stop\nhangup\n") && @masters.close }}
    endings.each do |name, ending|
      [@own, @masters].each(&:close)
      @own, @masters = UNIXSocket.pair
      child do |worker|
        worker.on_stop { orphaned[name] = worker.orphaned? }
        ending.call
      end
    end

    assert_equal({"stopped" => false, "left" => true, "stopped, then left" => true}, orphaned)
  end

  def test_it_ends_when_on_stop_has_returned
    child do |worker|
      worker.on_stop { [@log << :stop, sleep(0.01), @log << :stopped] }
      Pelton.add_timer(0.01) { @masters.write("stop\n") }
    end

    assert_equal [:stop, :stopped], @log
  end

  def test_term_stops_it_once_and_int_does_not
    child do |worker|
      worker.on_stop { @log << :stop }
      %w[INT TERM TERM].each { |name| Process.kill(name, Process.pid) }
    end

    assert_equal [:stop], @log
  end

  def test_the_end_of_its_master_stops_it
    child do |worker|
      worker.on_stop { @log << :stop }
      Pelton.add_timer(0.01) { @masters.close }
    end

    assert_equal [:stop], @log
  end

  def test_only_the_master_can_send_a_hangup
    @masters.write("hangup\nhangup\nstop\n")
    child do |worker|
      worker.on_hangup { @log << :hangup }
      worker.on_stop { @log << :stop }
      Process.kill("HUP", Process.pid)
    end

    assert_equal [:hangup, :hangup, :stop], @log
  end

  # on_stop learns whether no other process will accept the connections in the backlog.
  def test_it_knows_whether_others_go_on
    [["stop\n", false], ["finish\n", true], [nil, true]].each do |line, final|
      line ? @masters.write(line) : @masters.close
      child { |worker| worker.on_stop { |value| @log << value } }

      assert_equal final, @log.pop, line
    end
    assert_empty @log
  end

  def test_its_sockets_are_closed_when_it_stops
    port = free_port
    sockets = Pelton::Cluster::Sockets.open(["tcp://127.0.0.1:#{port}"])
    @masters.write("stop\n")
    Pelton::Cluster::Child.new(0, sockets, @own).run do |worker|
      worker.on_stop { @log << assert_raises(Errno::ECONNREFUSED) { Socket.tcp("127.0.0.1", port) } }
    end

    assert_equal 1, @log.size
  end

  def test_an_error_while_it_stops_is_reported_and_ends_it
    Pelton.on_error { |error| @log << error.message }
    @masters.write("stop\n")
    child { |worker| worker.on_stop { raise "cannot" } }

    assert_equal ["cannot"], @log
  ensure
    Pelton.on_error
  end

  def test_its_sockets_are_its_own
    address = "tcp://127.0.0.1:#{free_port}"
    sockets = Pelton::Cluster::Sockets.open([address])
    child = Pelton::Cluster::Child.new(7, sockets, @own)

    assert_equal 7, child.index
    fd = child.sockets.fetch(0)
    refute_equal sockets[address].fileno, fd
    Socket.for_fd(fd).close
    Socket.tcp("127.0.0.1", sockets[address].local_address.ip_port).close
  ensure
    sockets&.close
  end

  private

  def child(&block) = Pelton::Cluster::Child.new(0, nil, @own).run(&block)
end
