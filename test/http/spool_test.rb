# frozen_string_literal: true

require_relative "../support/http/peer"

class HTTPSpoolTest < PeltonTest
  include HttpPeer

  def test_a_body_is_there_before_the_application_is_called
    called = false
    app = lambda do |env|
      called = true
      input = env["rack.input"]
      first = input.read
      input.rewind
      [200, {}, [first, input.read, input.class.name, env["CONTENT_LENGTH"]]]
    end
    serving(app, lint: false, spool: 10) do
      connection = peer.say("POST / HTTP/1.1\nHost: h\nContent-Length: 4\n\n", "ab")
      sleep 0.005 until server.stats[:requests] == 1

      refute called
      assert_equal "abcdabcdStringIO4", connection.say("", "cd").response.body
      assert_equal "hello, worldhello, worldFile12",
        connection.say("POST / HTTP/1.1\nHost: h\nTransfer-Encoding: chunked\n\n",
          "6\r\nhello,\r\n6\r\n world\r\n0\r\n\r\n").response.body
    end
  end

  def test_requests_without_a_body
    serving(->(env) { [200, {}, [env["rack.input"].read]] }, spool: 10) { assert_equal "", peer.get("/").body }
  end

  def test_files_are_gone_when_the_response_is_complete
    file = nil
    serving(->(env) { (file = env["rack.input"]) && HELLO.call(env) }, lint: false, spool: 1) do
      peer.say("POST / HTTP/1.1\nHost: h\nContent-Length: 4\n\n", "abcd").response
      sleep 0.002 until file.closed?
    end
    refute_path_exists file.path
  end
end
