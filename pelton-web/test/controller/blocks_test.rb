# frozen_string_literal: true

require "pelton/web"
require_relative "../support/controllers"

class WebControllerBlocksTest < PeltonTest
  include WebControllers

  def test_a_string_is_answered_as_text
    one = answer { "<b>#{params[:q]}" }

    assert_equal 200, one.status
    assert_equal "<b>", one.body
    assert_equal "text/plain; charset=utf-8", one["content-type"]
  end

  def test_a_block_may_render
    assert_equal "html", answer { render html: "html" }.body
    assert_equal "first", answer { render(plain: "first") || "second" }.body
  end

  # The text is the whole of the answer only where nothing else was touched.
  def test_text_beside_other_parts
    secrets = {secrets: ["s" * 64]}

    assert_equal [201, "x", "1"],
      answer { (response.status = 201) && (headers["x-a"] = 1) && "x" }
        .then { |one| [one.status, one.body, one["x-a"]] }
    assert_match(/\Aa=1;/, answer { (cookies[:a] = "1") && "x" }["set-cookie"])
    assert_match(/\Asession=/, request(answering(secrets) { (session[:a] = "1") && "x" }, "GET", "/")["set-cookie"])
    assert_equal "cookie", request(answering(secrets) { session[:a].inspect }, "GET", "/")["vary"]
    assert_match(/\Asession=/, request(answering(secrets) { (flash[:a] = "1") && "x" }, "GET", "/")["set-cookie"])
    assert_equal [200, "", "5"],
      request(Class.new(Pelton::Web::Application) { routes { get("/") { "text\n" } } }, "HEAD", "/")
        .then { |one| [one.status, one.body, one["content-length"]] }
  end

  def test_text_inside_filters
    base = Class.new(Pelton::Web::Controller) do
      before_action { head 403 if params[:q] == "no" }
      around_action { |controller, inner| inner.call && nil || controller.headers["x-around"] = "1" }
      after_action { headers["x-after"] = response.body.join }
    end
    app = answering(block_controller: base) { "text" }

    assert_equal [200, "text", "1", "text"],
      request(app, "GET", "/").then { |one| [one.status, one.body, one["x-around"], one["x-after"]] }
    assert_equal 403, request(app, "GET", "/?q=no").status
    before = Class.new(Pelton::Web::Controller) { before_action { headers["x-before"] = "1" } }

    assert_equal ["1", "text"],
      request(answering(block_controller: before) { "text" }, "GET", "/").then { |one| [one["x-before"], one.body] }
  end

  def test_anything_else_is_no_answer
    assert_raises(Pelton::Web::AnswerError) { answer { 5 } }
  end
end
