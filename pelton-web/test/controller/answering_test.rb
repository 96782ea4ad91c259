# frozen_string_literal: true

require "pelton/web"
require_relative "../support/controllers"

class WebControllerAnsweringTest < PeltonTest
  include WebControllers

  def test_text_html_and_json
    assert_equal ["5", "text/plain; charset=utf-8"], rendered { render plain: 5 }
    assert_equal ["a", "text/plain; charset=utf-8"], rendered { render text: "a" }
    assert_equal ["<b>", "text/html; charset=utf-8"], rendered { render html: "<b>" }
    assert_equal ['{"a":[1,null]}', "application/json"], rendered { render json: {a: [1, nil]} }
    assert_equal ["null", "application/json"], rendered { render json: nil }
    assert_equal ["a,b", "text/csv"], rendered { render plain: "a,b", content_type: "text/csv" }
  end

  def test_statuses
    assert_equal 201, answer { render plain: "", status: :created }.status
    assert_equal 404, answer { head :not_found }.status
  end

  def test_head_has_headers
    assert_equal "/x", answer { head 201, location: "/x" }["location"]
  end

  def test_an_action_answers_once
    assert_raises(Pelton::Web::AnswerError) { answer { render(plain: "a") || render(plain: "b") } }
    assert_raises(Pelton::Web::AnswerError) { answer { head(200) || redirect_to("/") } }
    assert_raises(ArgumentError) { answer { render } }
  end

  def test_user_text_makes_no_header
    assert_raises(ArgumentError) { answer { head 200, "x-name": "a\r\nset-cookie: b=c" } }
    assert_raises(ArgumentError) { answer { (headers["x-name"] = "a\nb") && head(200) } }
    assert_raises(ArgumentError) { answer { render plain: "", content_type: "text/html\r\nset-cookie: a=b" } }
  end

  def test_a_problem
    one = answer("HTTP_ACCEPT" => "application/json") do
      answer_problem Pelton::Web::Problem.new(409, detail: "too late")
    end

    assert_equal 409, one.status
    assert_equal "application/problem+json", one["content-type"]
  end

  private

  def rendered(&block) = answer(&block).then { |one| [one.body, one["content-type"]] }
end
