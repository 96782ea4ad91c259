# frozen_string_literal: true

require "pelton/web"
require_relative "../../../test/support/captured_log"
require_relative "../support/requests"

class WebDeadlineTest < PeltonTest
  include CapturedLog
  include WebRequests

  def answer(app, seconds: 0.01)
    Pelton.run { request(Pelton::Web::Deadline.new(app, seconds), "GET", "/", "HTTP_ACCEPT" => "application/json") }
  end

  def test_a_request_that_waits_too_long
    ended = nil
    app = lambda do |_env|
      Queue.new.pop
    ensure
      ended = true
    end
    got = answer(app)

    assert ended, "its fiber was interrupted"
    assert_equal 503, got.status
    assert_equal "application/problem+json", got["content-type"]
    assert_equal "1", got["retry-after"]
    assert_match(/GET "\/" was not answered within 0.01 s; it waited at .*deadline_test.rb/, log)
  end

  # As an action that tries a failed query again.
  def test_an_application_that_rescues_every_error
    app = lambda do |_env|
      Queue.new.pop
    rescue
      retry
    end

    assert_equal 503, answer(app).status
  end

  def test_a_request_that_is_answered_in_time
    assert_equal 200, answer(->(_env) { [200, {}, ["x"]] }, seconds: 30).status
  end

  def test_a_timeout_of_the_application_s_own
    assert_raises(Pelton::TimeoutError) { answer(->(_env) { Pelton.timeout(0.001) { Queue.new.pop } }, seconds: 30) }
  end

  def test_without_a_setting_it_is_not_there
    assert_equal :app, Pelton::Web::Deadline.wrap(:app, Pelton::Web::Settings.new)
  end
end
