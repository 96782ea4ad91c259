# frozen_string_literal: true

require_relative "helper"

# Wishes of EventMachine's users that EventMachine does not fulfil, and that no other test covers.
class EventMachineWishesTest < EventMachineTest
  # Runs the block with a resolver that is slow.
  def with_slow_resolver(result)
    resolver = Pelton::Resolver.singleton_class
    resolver.alias_method(:resolve_at_once, :resolve)
    resolver.define_method(:resolve) do |*arguments|
      sleep 0.02
      result.call(*arguments)
    end
    yield
  ensure
    resolver.remove_method(:resolve)
    resolver.alias_method(:resolve, :resolve_at_once)
    resolver.remove_method(:resolve_at_once)
  end

  def test_the_loop_goes_on_while_a_name_is_looked_up
    log = []
    with_slow_resolver(->(_, port) { [Addrinfo.tcp("127.0.0.1", port)] }) do
      em do
        port = serve
        EM.add_timer(0.002) { log << :timer }
        EM.connect("example.test", port, handler(connection_completed: -> { log << :connected && EM.stop }))
        log << :returned
      end
    end

    assert_equal [:timer, :returned, :connected], log
  end

  def test_a_failed_lookup_raises_and_leaves_no_connection
    with_slow_resolver(->(*) {
      raise Pelton::ResolutionError,
        "cannot resolve it: getaddrinfo: Name or service not known"
    }) do
      em do
        10.times do
          error = assert_raises(EM::ConnectionError) { EM.connect("example.test", 80) }
          assert_equal "unable to resolve address: Name or service not known", error.message
        end

        assert_equal 0, EM.connection_count
        EM.stop
      end
    end
  end

  def test_all_addresses_of_a_name_are_tried
    log = []
    dead = free_port
    with_slow_resolver(->(_, port) { [Addrinfo.tcp("127.0.0.1", dead), Addrinfo.tcp("127.0.0.1", port)] }) do
      em do
        port = serve(handler(receive_data: ->(data) { log << data && EM.stop }))
        EM.connect("example.test", port, handler(connection_completed: -> { log << :connected })) do |connection|
          connection.send_data("x")
        end
      end
    end

    assert_equal [:connected, "x"], log
  end

  def test_running_out_of_descriptors_has_its_own_message
    skip "valgrind sets no limits" if VALGRIND
    output = ruby_output(<<~RUBY)
      require "pelton/eventmachine"
      EM.run do
        Process.setrlimit(:NOFILE, 40)
        files = []
        begin
          100.times { files << File.open("/dev/null") }
        rescue Errno::EMFILE
        end
        begin
          EM.connect("127.0.0.1", 9)
        rescue EM::ConnectionError => error
          puts error.message
        end
        begin
          EM.start_server("127.0.0.1", 0)
        rescue => error
          puts error.message
        end
        EM.stop
      end
    RUBY

    assert_equal 2, output.scan("Too many open files").size
  end

  def test_an_idle_loop_sleeps
    iterations = nil
    em do
      EM.connect("127.0.0.1", serve) { |connection| connection.comm_inactivity_timeout = 60 }
      EM.heartbeat_interval = 0.001
      EM.add_timer(0.03) do
        before = Pelton.stats[:iterations]
        EM.add_timer(0.05) do
          iterations = Pelton.stats[:iterations] - before
          EM.stop
        end
      end
    end

    assert_operator iterations, :<=, 3
  ensure
    EM.heartbeat_interval = 2
  end

  def test_a_forked_child_runs_a_loop_of_its_own
    assert_equal "0\nparent\n", ruby_output(<<~RUBY)
      require "pelton/eventmachine"
      EM.run do
        EM.start_server("127.0.0.1", 0)
        pid = fork do
          EM.run { EM.next_tick { puts EM.connection_count; EM.stop } }
          exit!(0) if $stdout.flush
        end
        EM.watch_process(pid, Module.new { def process_exited = EM.stop })
      end
      puts "parent"
    RUBY
  end
end
