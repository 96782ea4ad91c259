# frozen_string_literal: true

require "stringio"
require_relative "../support/http/peer"

class HTTPCommonLogTest < PeltonTest
  include HttpPeer

  LINE = %r{\A127\.0\.0\.1 - - \[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] "GET (\S+) HTTP/1\.1" (\d+) (\S+)$}

  def test_a_line_for_each_request
    io = StringIO.new
    serving(->(env) { env["PATH_INFO"].start_with?("/a") ? HELLO.call(env) : [204, {}, []] },
      log: Pelton::HTTP::CommonLog.new(io)) do
      connection = peer
      connection.get("/a\"\\?token=s3cret")
      connection.get("/c")
    end

    assert_equal [["/a\\x22\\x5c", "200", "5"], ["/c", "204", "-"]],
      io.string.lines.map { |line| line.match(LINE)&.captures }
  end

  def test_connections_without_a_request
    io = StringIO.new
    serving(HELLO, log: Pelton::HTTP::CommonLog.new(io), header_timeout: 0.05) { say_no_requests }

    assert_equal %w[400 408], io.string.lines.map { |line| line[/\A127\.0\.0\.1 - - \[\d.*\] "-" (\d+) -$/, 1] }
  end

  # A line is one line, whatever stands in it (rack CVE-2025-25184).
  def test_what_middleware_has_put_into_the_env_makes_no_lines_of_its_own
    io = StringIO.new
    app = lambda do |env|
      env["REMOTE_USER"] = "me\n1.2.3.4 - - \e[2J\u00e9"
      env["REQUEST_METHOD"] = "GET\r\n"
      env["REMOTE_ADDR"] = "1.2.3.4\0"
      HELLO.call(env)
    end
    serving(app, lint: false, log: Pelton::HTTP::CommonLog.new(io)) { peer.get("/") }

    assert_equal 1, io.string.lines.size
    assert_match(/\A1\.2\.3\.4\\x00 - me\\x0a1\.2\.3\.4 - - \\x1b\[2J\\xc3\\xa9 \[.*\] "GET\\x0d\\x0a \/ HTTP/,
      io.string)
  end
end
