# frozen_string_literal: true

require "test_helper"
require "pelton/lab/run"
require "pelton/lab/web/requests_beside"
require "socket"

class LabRequestsBesideTest < PeltonTest
  def test_each_request_is_timed_and_checked
    answers = ["200 OK"] * 3 + ["500 Error"]
    server = TCPServer.new("127.0.0.1", 0)
    thread = Thread.new do
      while (client = server.accept)
        client.gets("\r\n\r\n")
        client.write("HTTP/1.1 #{answers.shift}\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")
        client.close
      end
    end
    run = Pelton::Lab::Run.new(size: 1)
    requests = Pelton::Lab::RequestsBeside.new(run, "http://127.0.0.1:#{server.addr[1]}/up")
    done = requests.pace(3)

    assert_equal 3, done.requests
    assert_equal true, done.p50_ms.between?(0.001, done.p99_ms)
    assert_equal done, requests.last
    assert_raises(Pelton::Lab::Run::WrongAnswer) { requests.pace(1) }
  ensure
    thread&.kill&.join
    server&.close
  end
end
