# frozen_string_literal: true

require_relative "test_helper"

class TestHelperTest < PeltonTest
  def test_run_ruby_returns_output_errors_and_status
    output, errors, status = run_ruby("print ARGV.first, $stdin.read, ENV['X']; warn 'oh'; exit 3", 1, stdin: "2",
      env: {"X" => "3"})

    assert_equal "123", output
    assert_equal "oh\n", errors
    assert_equal 3, status.exitstatus
  end

  def test_run_ruby_kills_a_child_that_hangs_and_shows_where
    error = assert_raises(Minitest::Assertion) { run_ruby("def lost = sleep\nlost", deadline: 2) }

    assert_match(/in [`'](Object#)?lost'/, error.message)
  end

  def test_a_test_that_hangs_fails_and_shows_where
    output, errors, status = run_tests(<<~RUBY)
      self.deadline = 1
      def test_hangs = sleep
      def test_passes = pass
    RUBY

    assert_match(/2 runs, 1 assertions, 0 failures, 1 errors, 0 skips/, output)
    assert_match(/ATest#test_hangs hangs:.*in [`'](Kernel#)?sleep'/m, errors)
    refute status.success?
  end

  def test_a_process_whose_test_cannot_be_interrupted_dies
    _, errors, status = run_tests(<<~RUBY, "Guard.send(:remove_const, :GRACE); Guard::GRACE = 0.2")
      self.deadline = 0.3
      def test_hangs
        sleep
      rescue Guard::Hung
        Thread.handle_interrupt(Object => :never) { sleep }
      end
    RUBY

    assert_match(/\[BUG\]/, errors)
    assert status.signaled?
  end

  def test_memcached_answers_and_is_empty
    with_memcached do |port|
      TCPSocket.open("127.0.0.1", port) do |socket|
        socket.write("mg k v\r\nms k 1\r\nx\r\nmg k v\r\n")

        assert_equal ["EN\r\n", "HD\r\n", "VA 1\r\n", "x\r\n"], Array.new(4) { socket.gets }
      end
    end
  end

  def test_servers_are_no_children_of_the_tests
    with_memcached

    assert_raises(Errno::ECHILD) { Process.wait }
  end

  def test_servers_end_with_the_tests
    output, = run_tests("def test_one = $stdout.puts(\"port \#{with_memcached}\")")
    port = output[/port (\d+)/, 1].to_i

    assert_predicate port, :positive?, output
    eventually("the end of memcached") do
      TCPSocket.new("127.0.0.1", port).close
      false
    rescue Errno::ECONNREFUSED
      true
    end
  end

  private

  # A run of its own with one class, ATest.
  def run_tests(body, before = "")
    run_ruby(<<~RUBY, "--seed", 1, "--no-plugins", gems: true)
      require "#{ROOT}/test/support/guard"
      #{before}
      require "#{ROOT}/test/test_helper"
      class ATest < PeltonTest
        #{body}
      end
    RUBY
  end
end
