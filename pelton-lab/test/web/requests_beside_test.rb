# frozen_string_literal: true

require "test_helper"
require "support/http/scripts"
require "pelton/lab/run"
require "pelton/lab/web/requests_beside"

class LabRequestsBesideTest < PeltonTest
  include HTTPScripts

  def test_each_request_is_timed_and_checked
    requests = requests_of_which_the_fourth_fails
    done = requests.pace(3)

    assert_equal 3, done.requests
    assert_equal true, done.p50_ms.between?(0.001, done.p99_ms)
    assert_equal done, requests.last
    assert_raises(Pelton::Lab::Run::WrongAnswer) { requests.pace(1) }
  end

  def test_requests_of_a_process_of_their_own
    requests = requests_of_which_the_fourth_fails

    assert_equal 3, requests.in_a_process(3).call.requests
    assert_raises(Pelton::Lab::Run::WrongAnswer) { requests.in_a_process(1).call }
  end

  private

  def requests_of_which_the_fourth_fails
    answers = ["200 OK"] * 3 + ["500 Error"]
    server = script do |_request, socket|
      socket.write("HTTP/1.1 #{answers.shift}\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")
      :close
    end
    Pelton::Lab::RequestsBeside.new(Pelton::Lab::Run.new(size: 1), "http://127.0.0.1:#{server.port}/up")
  end
end
