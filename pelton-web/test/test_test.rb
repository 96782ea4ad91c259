# frozen_string_literal: true

require "test_helper"
require "pelton/web/test"

class WebTestTest < PeltonTest
  include Pelton::Web::Test

  WORK = Pelton::Background.new
  DONE = []

  APP = Class.new(Pelton::Web::Application) do
    settings.environment = "test"
    routes do
      get("/") { "home" }
      get("/slow") { sleep(0.001) && "slow" }
      get("/fail") { raise KeyError, "the program's error" }
      get("/work") do
        WORK.run { sleep(0.001) && DONE << :done }
        head 204
      end
      get("/moved") { redirect_to "/" }
      get("/parts") { answer(->(stream) { stream.write("one") && stream.close }, type: "text/plain") }
      get("/count") do
        count = request.cookies["count"].to_i + 1
        headers["set-cookie"] = "count=#{count}; path=/"
        render text: "visit #{count}"
      end
      post("/file") { params.file(:file).then { |file| "#{file.original_filename} #{file.content_type} #{file.read}" } }
      post("/json") { render json: {got: JSON.parse(request.body.read)}, status: 201 }
    end
  end

  def app = APP

  def test_requests_run_in_a_reactor
    get "/slow"

    assert_response 200, "slow", /sl/
    get "/parts"

    assert_response :ok, "one"
    in_reactor { get "/slow" }

    assert_response :success
  end

  def test_redirections
    get "/moved"

    assert_redirected_to "/"
    follow_redirect!

    assert_response :success, "home"
  end

  def test_cookies_are_kept_for_each_test
    2.times { get "/count" }

    assert_equal "visit 2", response.body
    clear_cookies
    get "/count"

    assert_equal "visit 1", response.body
  end

  def test_json
    send_json :post, "/json", {a: [1]}

    assert_response :created
    assert_equal({"got" => {"a" => [1]}}, json_response)
  end

  def test_files
    post "/file", file: upload("../me.txt", content: "bytes")

    assert_response 200, "me.txt text/plain bytes"
    post "/file", file: upload(__FILE__, "text/x-ruby")

    assert_response 200, "test_test.rb text/x-ruby # frozen_string_literal"
    assert_raises(RuntimeError) { upload("nothing.png") }
  end

  def test_the_program_s_errors_are_raised_in_the_test
    assert_raises(KeyError) { get "/fail" }
  end

  def test_assertions_fail_and_say_what_was_answered
    get "/nothing"

    assert_includes assert_raises(Minitest::Assertion) { assert_response 200 }.message, "GET /nothing was answered 404"
    assert_raises(Minitest::Assertion) { assert_redirected_to "/" }
    assert_raises(Minitest::Assertion) { assert_response 404, "not in it" }
  end

  def test_a_request_returns_when_its_background_work_is_done
    get "/work"

    assert_equal [:done], DONE
  end

  def test_an_application_for_browsers
    ports = Thread::Queue.new
    server = Thread.new { Pelton::Web::Test.serve(APP) { |port| ports << port } }
    port = ports.pop

    assert_equal "home", Pelton::HTTP.get("http://127.0.0.1:#{port}/").body
  ensure
    server.kill.join
  end

  def test_the_application_must_be_known
    bare = Object.new.extend(Pelton::Web::Test)

    assert_raises(Pelton::Web::ConfigurationError) { bare.get("/") }
  end
end
