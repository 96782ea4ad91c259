# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/sockets"
require_relative "../support/system_faults"

# System calls of a serving process fail. A failure may cost one connection, but never the server, some bytes of a
# response, or another client's response.
class HTTPFaultsTest < PeltonTest
  include Sockets
  include SystemFaults

  self.deadline = 60

  SIZE = 3_000_000

  # A level-triggered backend. epoll reports free space in a socket's buffer only once, after the buffer was full, and
  # these faults do not fill it.
  LEVEL = "poll"

  SERVER = <<~RUBY
    require "pelton/http"
    require "tempfile"
    FILE = Tempfile.create("pelton").tap { |file| file.write("0123456789" * #{SIZE / 10}) && file.close }.path
    LARGE = File.read(FILE)
    app = lambda do |env|
      body =
        {"/file" => -> { File.open(FILE) }, "/large" => -> { [LARGE] }}
          .fetch(env["PATH_INFO"]) { -> { ["hello"] } }.call
      body.is_a?(File) ? [200, {"content-length" => body.size.to_s}, body] : [200, {}, body]
    end
    Pelton.run { puts Pelton::HTTP::Server.new(app).listen("tcp://127.0.0.1:0").port }
  RUBY

  # Returns the body, or nil when the connection ended before the response was complete.
  def get(port, path = "/")
    head, body =
      answer_from(port, "GET #{path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").split("\r\n\r\n", 2)
    body if body && head.match?(/^content-length: #{body.bytesize}\r?$/)
  rescue Errno::ECONNRESET, Errno::EPIPE
    nil
  end

  # Returns the bodies that three clients get one after the other. The server must print nothing.
  def bodies(*faults, path: "/", before: "", backend: nil)
    bodies = nil
    output = break_running(*faults, before + SERVER, backend: backend || ENV["PELTON_BACKEND"]) do |port, _|
      bodies = Array.new(3) { get(port, path) }
    end

    assert_empty output
    bodies.map { |body| body && ((body.bytesize > 10) ? body.bytesize : body) }
  end

  HELLO = ["hello"].freeze

  def test_a_reset_ends_its_connection_alone
    assert_equal [nil, "hello", "hello"], bodies("read:error=ECONNRESET:when=1")
  end

  def test_reads_that_are_interrupted
    assert_equal HELLO * 3, bodies("read:error=EINTR:when=1+2")
  end

  # The server sends small responses with one of these system calls, large ones with the other.
  def test_sends_that_are_interrupted_or_find_the_buffer_full
    {"EINTR" => nil, "EAGAIN" => LEVEL}.each do |error, backend|
      assert_equal HELLO * 3, bodies("sendto:error=#{error}:when=1+2", backend: backend), error
      assert_equal [SIZE] * 3, bodies("sendmsg:error=#{error}:when=1+2", path: "/large", backend: backend), error
    end
  end

  def test_a_client_that_is_gone_when_it_is_answered
    %w[EPIPE ECONNRESET ETIMEDOUT].each do |error|
      assert_equal [nil, "hello", "hello"], bodies("sendto:error=#{error}:when=1", "sendmsg:error=#{error}:when=1"),
        error
    end
  end

  def test_files_find_the_buffer_full_or_cannot_be_sent_at_once
    {"EINTR:when=1+2" => nil, "EAGAIN:when=1+2" => LEVEL, "EINVAL:when=1" => nil,
     "ENOSYS:when=1" => nil}.each do |error, backend|
      assert_equal [SIZE] * 3, bodies("sendfile:error=#{error}", path: "/file", backend: backend), error
    end
  end

  def test_a_client_that_is_gone_when_it_is_sent_a_file
    %w[EPIPE ECONNRESET].each do |error|
      assert_equal [nil, SIZE, SIZE], bodies("sendfile:error=#{error}:when=1", path: "/file"), error
    end
  end

  # sendfile has no flag that suppresses SIGPIPE: where the signal would end the process, the server reads and sends the
  # file instead.
  def test_sigpipe_does_not_end_the_process
    assert_equal [SIZE] * 3,
      bodies("sendfile:error=EPIPE:signal=PIPE:when=1", path: "/file", before: "trap(:PIPE, 'SYSTEM_DEFAULT')\n")
  end

  def test_a_disk_that_fails_ends_the_response_and_is_reported
    output = break_running("sendfile:error=EIO:when=1", SERVER) do |port, _|
      assert_nil get(port, "/file")
      assert_equal SIZE, get(port, "/file").bytesize
    end
    assert_match(/Input\/output error/, output)
  end

  # epoll cannot watch the connection, so the connection is lost; the server goes on.
  def test_a_connection_that_cannot_be_registered
    skip "epoll alone" if ENV["PELTON_BACKEND"] == "poll"
    answers = nil
    open = -> { Dir.children("/proc/#{@pid}/fd").size }
    output = break_running("epoll_ctl:error=ENOSPC:when=1", SERVER) do |port, pid|
      @pid = pid
      before = open.call
      answers = Array.new(3) { get(port) }
      eventually { open.call <= before }
    end

    assert_equal [nil, "hello", "hello"], answers
    assert_match(/No space left/, output)
  end

  def test_getpeername_and_setsockopt_fail
    assert_equal HELLO * 3, bodies("getpeername:error=ENOTCONN", "setsockopt:error=EINVAL")
  end
end
