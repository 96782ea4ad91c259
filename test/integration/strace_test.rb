# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/system_faults"

# strace injects faults that rarely happen into a program's system calls.
class StraceTest < PeltonTest
  include SystemFaults

  self.deadline = 60

  # The names of the waiting system call on different systems.
  WAITS = {"epoll" => %w[epoll_wait epoll_pwait epoll_pwait2], "poll" => %w[poll ppoll]}.freeze

  # A program that waits in every way.
  WORK = <<~RUBY
    reader, writer = IO.pipe
    log = []
    Pelton.run do
      Pelton.spawn { 5.times { log << reader.readpartial(1) } }
      5.times { sleep(0.001) && writer.write("x") }
      queue = Queue.new
      Thread.new { 5.times { |i| sleep(0.001) && queue << i } }
      5.times { log << queue.pop }
      Pelton.add_timer(0.002) { log << :timer }
    end
    p log.size, Pelton.stats.values_at(:parked, :ready)
  RUBY

  ECHO = <<~'RUBY'
    def listening
      Pelton.run do
        listener = Pelton.listen("127.0.0.1", 0) { |stream| stream.on_data { |data| stream.write(data) } }
        yield listener
        listener.close
      end
    end

    def echo_once(port, word)
      stream = Pelton.connect("127.0.0.1", port)
      stream.write("#{word}\n")
      stream.gets(timeout: 10)
    ensure
      stream&.close
    end
  RUBY

  # Shortages of the system pass: then the clients in the backlog are accepted.
  %w[EMFILE ENFILE ENOBUFS ENOMEM].each do |error|
    define_method("test_#{error}_pauses_accepting_and_loses_nobody") do
      assert_equal "[\"word0\\n\", \"word1\\n\", \"word2\\n\"]\ntrue\n",
        inject("accept4:error=#{error}:when=1..2", ECHO + <<~'RUBY')
          listening do |listener|
            p 3.times.map { |n| echo_once(listener.port, "word#{n}") }
            p listener.stats[:pauses].positive?
          end
        RUBY
    end
  end

  def test_a_connection_that_died_before_it_was_accepted_is_passed_over
    %w[ECONNABORTED EPROTO EINTR].each do |error|
      assert_equal "\"alive\\n\"\n", inject("accept4:error=#{error}:when=1", ECHO + <<~RUBY), error
        listening do |listener|
          p echo_once(listener.port, "alive")
        end
      RUBY
    end
  end

  WAITS.each do |backend, calls|
    define_method("test_interrupted_waits_of_#{backend}_are_begun_again") do
      assert_equal "11\n[0, 0]\n", inject(*every(calls, "error=EINTR:when=1+3"), WORK, backend: backend)
    end

    define_method("test_a_wait_of_#{backend}_that_fails_for_good_ends_run") do
      output = inject(*every(calls, "error=ENOMEM:when=4+"), WORK, backend: backend)

      assert_match(/the reactor cannot wait.*Cannot allocate memory/, output)
      refute_match(/^11$/, output)
    end
  end

  def test_a_sandbox_that_does_not_know_the_newest_wait
    %w[ENOSYS EPERM].each do |error|
      assert_equal "11\n[0, 0]\n", inject("epoll_pwait2:error=#{error}", WORK, backend: "epoll"), error
    end
  end

  def test_interrupted_sends_are_begun_again
    assert_equal "true\n", inject("sendto:error=EINTR:when=1+3", ECHO + <<~'RUBY')
      listening do |listener|
        p 5.times.all? { |n| echo_once(listener.port, "word#{n}") == "word#{n}\n" }
      end
    RUBY
  end

  # Streams receive by read(2), which Ruby needs for its own files, so a fault there is no option: stream_suite.rb makes
  # real resets.
  def test_a_reset_ends_its_connection_alone
    assert_equal "[true, \"word1\\n\", \"word2\\n\"]\n", inject("sendto:error=ECONNRESET:when=1", ECHO + <<~'RUBY')
      listening do |listener|
        answers = 3.times.map do |n|
          echo_once(listener.port, "word#{n}")
        rescue Pelton::ConnectionError => error
          error.errno == Errno::ECONNRESET::Errno
        end
        p answers
      end
    RUBY
  end

  def test_a_reactor_that_cannot_be_opened_says_why
    {"epoll_create1:error=EMFILE" => ["epoll", /Too many open files"$/],
     "eventfd2:error=ENFILE" => ["poll", /Too many open files in system"$/]}.each do |fault, (backend, message)|
      output = inject(fault, <<~RUBY, backend: backend)
        begin
          Pelton.run { 1 }
        rescue Pelton::Error => error
          p error.message
        end
      RUBY
      assert_match(message, output)
    end
  end

  def test_a_descriptor_that_cannot_be_registered_is_an_error_of_the_waiting_fiber
    assert_equal "Errno::ENOSPC\n:goes_on\n", inject("epoll_ctl:error=ENOSPC:when=2", <<~RUBY, backend: "epoll")
      reader, _writer = IO.pipe
      Pelton.run do
        reader.wait_readable
      rescue SystemCallError => error
        p error.class
        sleep 0.001
        p :goes_on
      end
    RUBY
  end
end
