# frozen_string_literal: true

require_relative "../test_helper"
require "pelton"

# The thread that counts is tested in test/core/loop/test_stop_limit.c, servers in
# test/integration/http_stop_limit_test.rb.
class StopLimitTest < PeltonTest
  # The line that it writes, and the exit status.
  def assert_ended(program, signal: nil)
    reader, writer = IO.pipe
    ready, said = IO.pipe
    pid = fork do
      $stderr.reopen(writer)
      instance_exec(said, &program)
      exit!(7)
    end
    [writer, said].each(&:close)
    ready.gets
    Process.kill(signal, pid) if signal
    _, status = Process.wait2(pid)

    assert_equal "pelton: the process has not stopped within 0.02 s, so it is ended\n", reader.read
    assert_equal 1, status.exitstatus
  end

  def test_from_a_signal
    assert_ended(lambda do |said|
      Signal.trap("TERM") {}
      Pelton.const_get(:StopLimit).after(0.02, %w[TERM])
      said.puts
      loop {}
    end, signal: "TERM")
  end

  def test_from_now
    assert_ended(lambda do |said|
      Pelton.const_get(:StopLimit).from_now(0.02)
      said.puts
      sleep
    end)
  end

  def test_wrong_arguments
    assert_raises(TypeError) { Pelton.const_get(:StopLimit).after("soon", %w[TERM]) }
    assert_raises(TypeError) { Pelton.const_get(:StopLimit).after(1, %w[NONE]) }
    assert_raises(ArgumentError) { Pelton.const_get(:StopLimit).after(1, %w[TERM] * 17) }
  end
end
