# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebProblemTest < PeltonTest
  def answer(accept, verb = "GET")
    Pelton::Web::Problem.new(422, detail: "<b> is missing", members: {errors: []}, headers: {"x-a" => "b"}).response({"HTTP_ACCEPT" => accept, "REQUEST_METHOD" => verb})
  end

  def test_json_for_those_who_accept_it
    ["application/json", "application/problem+json", "application/json, text/plain;q=0.5"].each do |accept|
      status, headers, body = answer(accept)

      assert_equal [422, "application/problem+json", "b"], [status, headers["content-type"], headers["x-a"]]
      assert_equal({"title" => Rack::Utils::HTTP_STATUS_CODES[422], "status" => 422, "detail" => "<b> is missing", "errors" => []}, JSON.parse(body.join))
    end
  end

  Lost = Class.new(StandardError) { define_method(:web_status) { 404 } }
  Wrong = Class.new(Lost) { define_method(:web_detail) { "what the client may know" } }

  def test_errors_say_their_statuses_themselves
    assert_equal [[404, nil], [404, "what the client may know"], [403, "no"]],
      [Lost.new("of the program"), Wrong.new("of the program"), Pelton::Web::Forbidden.new("no")].map { |error| Pelton::Web::Problem.of(error).then { |problem| [problem.status, problem.detail] } }
    assert_nil Pelton::Web::Problem.of(KeyError.new)
  end

  def test_settings_give_errors_a_status
    settings = Pelton::Web::Settings.new
    settings.errors = {"IndexError" => 410, KeyError => 409, Lost => 418}

    assert_equal([409, 410, 418, 418, nil], [KeyError, StopIteration, Lost, Wrong, TypeError].map { |type| Pelton::Web::Problem.of(type.new, settings)&.status })
    [nil, {KeyError => 500}, {1 => 404}, {KeyError => "404"}].each { |value| assert_raises(Pelton::Web::ConfigurationError) { settings.errors = value } }
  end

  # Where another database's errors are answered is the same place for all: nothing here knows the gem.
  def test_sequel_s_errors_have_a_status
    errors = %w[NoMatchingRow ValidationFailed Error].map { |name| Class.new(StandardError) { define_singleton_method(:name) { "Sequel::#{name}" } }.new }
    settings = Pelton::Web::Settings.new
    settings.errors = {KeyError => 409}

    assert_equal([404, 422, nil], errors.map { |error| Pelton::Web::Problem.of(error, settings)&.status })
  end

  def test_a_page_for_browsers
    _, headers, body = answer("text/html,application/xhtml+xml,*/*;q=0.8")

    assert_equal "text/html; charset=utf-8", headers["content-type"]
    assert_includes body.join, "&lt;b&gt; is missing"
  end

  def test_text_for_all_others
    [nil, "*/*", "image/png", "text/plain"].each do |accept|
      assert_equal ["text/plain; charset=utf-8", "#{Rack::Utils::HTTP_STATUS_CODES[422]}: <b> is missing\n"], answer(accept).then { |_, headers, body| [headers["content-type"], body.join] }
    end
  end

  def test_head_has_no_body
    assert_empty answer("*/*", "HEAD").last
  end
end
