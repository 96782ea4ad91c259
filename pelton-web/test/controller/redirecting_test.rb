# frozen_string_literal: true

require "pelton/web"
require_relative "../../../test/support/captured_log"
require_relative "../support/controllers"

class WebControllerRedirectingTest < PeltonTest
  include CapturedLog
  include WebControllers

  def to(location, verb = "GET", **options)
    request(answering { redirect_to(location, **options) }, verb, "/").then do |answer|
      [answer.status, answer["location"]]
    end
  end

  def test_to_this_host
    ["/", "/a?b=c#d", "/a//b", "http://example.org/x", "http://example.org",
      "http://example.org?x=1"].each { |location| assert_equal [302, location], to(location) }
    assert_equal [302, "/caf%C3%A9"], to("/café")
  end

  def test_after_a_form_the_client_gets_the_page
    assert_equal [303, "/x"], to("/x", "POST")
    assert_equal [307, "/x"], to("/x", "POST", status: 307)
  end

  def test_messages_for_the_page_there
    app = Class.new(Pelton::Web::Application) do
      routes do
        post("/") { redirect_to "/", notice: "Saved.", alert: nil, flash: {warning: "Soon."} }
        delete("/") { redirect_back fallback: "/", alert: "<b>" }
        post("/away") { redirect_to "https://evil.example", notice: "kept?" }
        get("/") { flash.to_a.inspect }
      end
    end
    assert_equal '[["notice", "Saved."], ["warning", "Soon."]]', shown(app, request(app, "POST", "/"))
    assert_equal '[["alert", "<b>"]]', shown(app, request(app, "DELETE", "/"))
    answer = request(app, "POST", "/away")
    assert_equal 400, answer.status
    assert_nil answer["set-cookie"]
    assert_nil request(answering { redirect_to "/" }, "GET", "/")["set-cookie"]
  end

  def test_to_no_other_host
    ["http://evil.example/", "https://example.org/", "//evil.example", "/\\evil.example", "\\\\evil.example",
      "http://example.org.evil.example/", "http://example.org@evil.example/",
      "http://example.org:80@evil.example/", "javascript:alert(1)", "data:text/html,x", "", "x", " /x",
      "/\t/evil.example", "/x\r\nset-cookie: a=b", "/x\0", "http:evil.example",
      "http:///evil.example", "http://example.org\\@evil.example"].each do |location|
      assert_equal [400, nil], to(location), location.inspect
    end
  end

  def test_what_is_refused_is_logged_without_secrets
    to("https://user:secret@evil.example/a?token=secret")

    assert_match(%r{redirect_to "https://evil.example/a" is refused.*allow_other_host}, log)
    refute_includes log, "secret"
  end

  def test_to_another_host_if_the_program_says_so
    assert_equal [302, "https://other.example/x?y"], to("https://other.example/x?y", allow_other_host: true)
    assert_equal [302, "/x"], to("/x", allow_other_host: true)
    ["javascript:alert(1)", "//other.example", "https://a b/", "https://other.example/\r\nset-cookie: a=b",
      "https:///x"].each do |location|
      assert_equal [400, nil], to(location, allow_other_host: true), location.inspect
    end
  end

  def test_back
    app = answering { redirect_back fallback: "/home" }

    {"http://example.org/form" => "http://example.org/form", "http://evil.example/" => "/home", nil => "/home",
     "//evil.example" => "/home"}.each do |referer, location|
      assert_equal location, request(app, "GET", "/", "HTTP_REFERER" => referer)["location"]
    end
  end

  private

  def shown(app, answer) = request(app, "GET", "/", "HTTP_COOKIE" => answer["set-cookie"][/\A[^;]*/]).body
end
