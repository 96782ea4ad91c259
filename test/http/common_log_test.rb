# frozen_string_literal: true

require "stringio"
require_relative "../test_helper"
require_relative "../support/http_peer"

class HTTPCommonLogTest < PeltonTest
  include HttpPeer

  LINE = %r{\A127\.0\.0\.1 - - \[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] "GET (\S+) HTTP/1\.1" (\d+) (\S+)$}

  def test_a_line_for_each_request
    io = StringIO.new
    serving(->(env) { (env["PATH_INFO"] == "/a") ? HELLO.call(env) : [204, {}, []] }, log: Pelton::HTTP::CommonLog.new(io)) do
      connection = peer
      connection.get("/a?b=\"\\")
      connection.get("/c")
    end

    assert_equal [["/a?b=\\x22\\x5c", "200", "5"], ["/c", "204", "-"]], io.string.lines.map { |line| line.match(LINE)&.captures }
  end
end
