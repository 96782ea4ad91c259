# frozen_string_literal: true

require "pelton/web"
require_relative "../support/requests"

class WebControllerForgeryTest < PeltonTest
  include WebRequests

  class WebFormsController < Pelton::Web::Controller
    def form = render(html: "<form method=\"post\">#{csrf_field}</form>")
    def token = render(text: form_authenticity_token)
    def save = render(text: "saved")
  end

  class WebHooksController < WebFormsController
    skip_forgery_protection only: :save

    def other = render(text: "other")
  end

  class WebOpenController < WebFormsController
    skip_forgery_protection
  end

  def application(&block)
    Class.new(Pelton::Web::Application) do
      settings.hosts = nil
      class_exec(&block) if block
      routes do
        %w[forms hooks open].each do |name|
          get "/#{name}", to: "web_controller_forgery_test/web_#{name}#form"
          get "/#{name}/token", to: "web_controller_forgery_test/web_#{name}#token"
          post "/#{name}", to: "web_controller_forgery_test/web_#{name}#save"
        end
        post "/hooks/other", to: "web_controller_forgery_test/web_hooks#other"
        post("/block") { "saved" }
      end
    end
  end

  def setup
    @application = application
  end

  OLD = {"HTTP_SEC_FETCH_SITE" => nil}.freeze

  def post(path = "/forms", app: @application, **env) = request(app, "POST", path, **env).status

  def test_forms_of_the_site_s_own
    assert_equal 200, post
    assert_equal 200, post("/block")
    assert_equal 200, post(**OLD, "HTTP_ORIGIN" => "http://example.org")
  end

  def test_forms_of_others
    %w[cross-site same-site].each do |site|
      assert_equal 403, post("HTTP_SEC_FETCH_SITE" => site)
      assert_equal 403, post("/block", "HTTP_SEC_FETCH_SITE" => site)
    end
    %w[null https://example.org http://evil.example].each do |origin|
      assert_equal 403, post(**OLD, "HTTP_ORIGIN" => origin)
    end
  end

  def test_the_answer_says_why
    answer = request(@application, "POST", "/forms", **OLD, "HTTP_ORIGIN" => "http://evil.example\"",
      "HTTP_ACCEPT" => "application/json")

    assert_equal 'The form was sent by another site ("http://evil.example\""). This is http://example.org.',
      JSON.parse(answer.body)["detail"]
  end

  # A page is the same for all, so it can be cached: no token, no cookie.
  def test_pages_for_browsers_of_today_have_no_token
    answer = request(@application, "GET", "/forms", "HTTP_SEC_FETCH_SITE" => "none")

    assert_equal "<form method=\"post\"></form>", answer.body
    assert_equal [nil, nil, nil], %w[set-cookie cache-control vary].map { |name| answer[name] }
  end

  # Such as Internet Explorer 11, which sends no Origin with forms of the site's own.
  def test_old_browsers_need_their_token
    page = request(@application, "GET", "/forms", **OLD)
    token = page.body[/name="authenticity_token" value="([\w-]+)"/, 1]
    cookie = page["set-cookie"][/\A[^;]*/]

    assert_equal "private, no-cache", page["cache-control"]
    assert_equal 200, post(:params => {authenticity_token: token}, "HTTP_COOKIE" => cookie, **OLD)
    assert_equal 200, post("HTTP_X_CSRF_TOKEN" => token, "HTTP_COOKIE" => cookie, **OLD)
    assert_equal 403, post("HTTP_COOKIE" => cookie, **OLD)
    assert_equal 403, post(params: {authenticity_token: token}, **OLD)
    assert_equal 403, post(:params => {authenticity_token: token.reverse}, "HTTP_COOKIE" => cookie, **OLD)
    assert_equal 403, post(:params => "authenticity_token[]=#{token}", "HTTP_COOKIE" => cookie, **OLD)
    assert_equal 403,
      post("HTTP_COOKIE" => cookie, "HTTP_X_CSRF_TOKEN" => token, **OLD, "HTTP_ORIGIN" => "http://evil.example"),
      "a token does not make up for another origin"
  end

  def test_actions_can_be_left_out
    foreign = {"HTTP_SEC_FETCH_SITE" => "cross-site"}

    assert_equal 200, post("/hooks", **foreign)
    assert_equal 403, post("/hooks/other", **foreign)
    assert_equal 200, post("/open", **foreign)
  end

  def test_settings
    pay = {"HTTP_SEC_FETCH_SITE" => "cross-site", "HTTP_ORIGIN" => "https://pay.example"}

    assert_equal 200, post(app: application { settings.trusted_origins = ["https://pay.example"] }, **pay)
    assert_equal 200,
      post(:app => application { settings.same_site_forms = true }, "HTTP_SEC_FETCH_SITE" => "same-site")
    assert_equal 200, post(app: application { settings.forgery_protection = false }, **pay)
  end

  def test_behind_a_proxy_with_tls
    env = {**OLD, "HTTP_ORIGIN" => "https://shop.example", "HTTP_HOST" => "127.0.0.1:9292",
                  "REMOTE_ADDR" => "127.0.0.1", "HTTP_X_FORWARDED_PROTO" => "https",
                  "HTTP_X_FORWARDED_HOST" => "shop.example"}

    assert_equal 200, post(app: application { settings.trusted_proxies = ["127.0.0.1"] }, **env)
    assert_equal 403, post(**env), "a proxy that is not trusted"
  end
end
