# frozen_string_literal: true

require_relative "test_helper"
require_relative "support/event_log"
require "pelton"
require "socket"

# The reactor's own methods, its workers, and how it opens.
class ReactorTest < PeltonTest
  include EventLog

  # Nothing else collects them while few objects are made.
  def test_descriptors_of_ended_threads_are_collected_when_none_is_left
    skip "valgrind sets no limits" if VALGRIND
    assert_equal "the end\n", ruby_output(<<~RUBY)
      require "pelton"
      Process.setrlimit(:NOFILE, 64)
      100.times { Thread.new { Pelton.run { sleep 0 } }.join }
      puts "the end"
    RUBY
  end

  def test_each_thread_has_a_reactor_of_its_own
    reactors =
      Array.new(3) { Thread.new { Pelton.run { sleep(0.001) && Pelton::Reactor.current } }.value } <<
      Pelton::Reactor.current

    assert_equal 4, reactors.uniq.size
    assert_raises(Pelton::Error) { reactors.first.run {} }
    assert_raises(NoMethodError) { Pelton::Reactor.new }
  end

  def test_hold_keeps_the_reactor_running_until_release
    Pelton.run do
      reactor = Pelton::Reactor.current
      reactor.retain
      Thread.new do
        reactor.schedule { @log << :scheduled }
        eventually { !@log.empty? }
        reactor.release
      end
    end

    assert_equal [:scheduled], @log
  end

  def test_workers_are_pooled_but_not_without_limit
    Pelton.run { 400.times { Pelton.spawn { sleep 0.002 } } }
    kept = Pelton.stats[:workers]

    assert_operator kept, :<, 200
    Pelton.run { 400.times { Pelton.spawn { sleep(0.002) && @log << 1 } } }
    assert_equal 400, @log.size
    assert_operator Pelton.stats[:workers], :<, 200
  end

  def test_a_callback_that_does_not_wait_costs_no_fiber
    Pelton.run do
      before = Pelton.stats[:workers]
      100.times { Pelton.next_tick { @log << 1 } }
      100.times { Pelton.spawn { @log << 2 } }
      Pelton::Reactor.current.yield while @log.size < 200

      assert_operator Pelton.stats[:workers] - before, :<=, 1
    end
  end

  def test_a_program_with_one_fiber_never_switches
    reader, writer = IO.pipe
    Pelton.run do
      before = Pelton.stats[:switches]
      5.times do
        sleep 0.0001
        writer.write("x")
        reader.readpartial(1)
      end

      assert_equal before, Pelton.stats[:switches]
    end
  ensure
    [reader, writer].each(&:close)
  end

  def test_raise_in_needs_a_parked_fiber
    Pelton.run do
      reactor = Pelton::Reactor.current

      refute reactor.raise_in(Fiber.new {}, "x")
      assert_equal "here", assert_raises(RuntimeError) { reactor.raise_in(Fiber.current, "here") }.message
      parked = nil
      Fiber.schedule do
        parked = Fiber.current
        sleep
      rescue KeyError => error
        @log << error.message
      end
      assert reactor.raise_in(parked, KeyError, "there")
      assert_raises(TypeError) { reactor.raise_in(parked, 1) }
    end

    assert_equal ["there"], @log
  end

  def test_a_closed_epoll_descriptor_ends_run
    skip "poll has no descriptor" if POSIX
    assert_match(/\Aensure\nthe reactor cannot wait.*Bad file descriptor/,
      ruby_output(<<~RUBY, env: {"PELTON_BACKEND" => "epoll"}))
        require "pelton"
        begin
          Pelton.run do
            Pelton.spawn do
              sleep
            ensure
              puts "ensure"
            end
            Pelton.next_tick do
              Dir.children("/proc/self/fd").each do |fd|
                IO.for_fd(fd.to_i).close if File.readlink("/proc/self/fd/" + fd) == "anon_inode:[eventpoll]"
              rescue SystemCallError, ArgumentError
              end
            end
            sleep
          end
        rescue Pelton::Error => error
          puts error.message
        end
      RUBY
  end

  def test_an_unknown_backend_is_named
    _, errors, status = run_ruby("require 'pelton'; Pelton.run {}", env: {"PELTON_BACKEND" => "kqueue"})

    refute status.success?
    assert_match(/PELTON_BACKEND=kqueue is not known: use #{"epoll or " unless POSIX}poll \(Pelton::Error\)/, errors)
  end

  def test_too_many_open_files_are_an_error_of_the_first_use
    assert_equal "cannot open a reactor: Too many open files\n1\n", ruby_output(<<~RUBY)
      require "pelton"
      files = []
      begin
        loop { files << File.open(File::NULL) }
      rescue Errno::EMFILE
      end
      begin
        Pelton.run { }
      rescue Pelton::Error => error
        puts error.message
      end
      files.each(&:close)
      p Pelton.run { sleep(0.001) && 1 }
    RUBY
  end

  def test_descriptors_of_objects_that_are_garbage_are_collected
    skip "valgrind sets no limits" if VALGRIND
    server = TCPServer.new("127.0.0.1", 0)
    assert_equal "cannot listen on 127.0.0.1: Too many open files\n", ruby_output(<<~RUBY, server.local_address.ip_port)
      require "pelton"
      Process.setrlimit(:NOFILE, 64, Process.getrlimit(:NOFILE).last)
      Pelton.run { 100.times { Pelton.connect("127.0.0.1", ARGV[0].to_i) } }
      Pelton.run { 100.times { Pelton.listen("127.0.0.1", 0) } }
      kept = []
      begin
        Pelton.run { loop { kept << Pelton.listen("127.0.0.1", 0) } }
      rescue Pelton::ConnectionError => error
        puts error.message
      end
    RUBY
  ensure
    server&.close
  end
end
