# frozen_string_literal: true

require "pelton/web"
require_relative "../support/requests"

class WebControllerSessionsTest < PeltonTest
  include WebRequests

  class WebCounterController < Pelton::Web::Controller
    rescue_from(KeyError) { head 404 }

    def count = render(text: (session[:count] = (session[:count] || 0) + 1).to_s)
    def show = render(text: session[:count].inspect)
    def plain = render(text: "x")
    def sign_in = (reset_session && nil) || (session[:user] = 7) && render(text: session.to_h.to_s)
    def sign_out = reset_session || render(text: "bye")
    def large = (session[:text] = "x" * 4000) && render(text: "x")
    def notice = (flash[:notice] = "Saved.") && redirect_to("/flash")
    def flash_page = render(text: flash.notice.inspect)
    def theme = (cookies[:theme] = params[:theme]) && render(text: "x")
    def failing = (session[:count] = 100) && raise(KeyError)

    def shared
      expires_in 60, public: true
      case params[:what]
      when "session" then session[:count]
      when "flash" then flash.notice
      when "token" then csrf_field
      when "cookie" then cookies[:theme] = "dark"
      when "read" then cookies[:theme]
      end
      render(text: "x")
    end

    def conditional = fresh_when(["v", session[:count]], public: true) || render(text: "x")

    def cached
      (headers["cache-control"] = "max-age=5") && (headers["vary"] = "accept") && render(text: session[:count].inspect)
    end
  end

  def application(&block)
    @application ||= Class.new(Pelton::Web::Application) do
      class_exec(&block) if block
      settings.secrets = ["s" * 64]
      routes do
        %w[count show plain large notice theme failing cached shared conditional sign_in sign_out].each do |name|
          get "/#{name}", to: "web_controller_sessions_test/web_counter##{name}"
        end
        get "/flash", to: "web_controller_sessions_test/web_counter#flash_page"
      end
    end
  end

  def setup
    @jar = {}
  end

  # A client that keeps cookies.
  def visit(path, app: application, **env)
    env["HTTP_COOKIE"] ||= @jar.map { |pair| pair.join("=") }.join("; ") if @jar.any?
    answer = request(app, "GET", path, **env)
    Array(answer["set-cookie"]).each do |line|
      name, value = line[/\A[^;]*/].split("=", 2)
      line.include?("max-age=0") ? @jar.delete(name) : @jar[name] = value
    end
    answer
  end

  def test_a_session_lasts_from_request_to_request
    assert_equal %w[1 2 3], Array.new(3) { visit("/count").body }
    assert_equal "3", visit("/show").body
    assert_match(/\Asession=[\w-]+; path=\/; httponly; samesite=lax\z/, visit("/count")["set-cookie"])
  end

  def test_only_changes_are_sent
    visit("/count")

    assert_nil visit("/show")["set-cookie"]
    assert_nil visit("/plain")["set-cookie"]
  end

  # A page that does not ask for the session is the same for everybody.
  def test_a_page_that_depends_on_the_session_is_one_client_s_own
    assert_equal ["private, no-cache", "cookie"],
      visit("/show").then { |answer| [answer["cache-control"], answer["vary"]] }
    assert_equal ["private, max-age=5", "accept, cookie"],
      visit("/cached").then { |answer| [answer["cache-control"], answer["vary"]] }
    assert_equal [nil, nil], visit("/plain").then { |answer| [answer["cache-control"], answer["vary"]] }
  end

  # Whatever the action has said: a shared cache would give the token, the message or the cookie to everybody.
  def test_no_response_of_one_client_is_public
    answers = %w[session flash token cookie read none].to_h do |what|
      [what, visit("/shared?what=#{what}", "HTTP_SEC_FETCH_SITE" => nil)["cache-control"]]
    end

    assert_equal ["read", "none"], answers.select { |_, control| control == "public, max-age=60" }.keys
    assert_equal ["private, max-age=60"], answers.values.first(4).uniq
    assert_equal "private, no-cache", visit("/conditional")["cache-control"]
  end

  def test_under_tls_the_cookie_is_the_host_s_own
    answer = visit("/count", "rack.url_scheme" => "https")

    assert_match(/\A__Host-session=[\w-]+; path=\/; secure; httponly; samesite=lax\z/, answer["set-cookie"])
    assert_equal "2", visit("/count", "rack.url_scheme" => "https").body
    assert_equal "1", visit("/count", "rack.url_scheme" => "http").body,
      "a cookie that another host of the domain could have set does not count"
  end

  def test_settings
    application do
      settings.secure_cookies = settings.session_persistent = true
      settings.session_name = "s"
      settings.session_same_site = :strict
    end

    assert_match(/\A__Host-s=[\w-]+; path=\/; max-age=1209600; secure; httponly; samesite=strict\z/,
      visit("/count")["set-cookie"])
  end

  # What an attacker has put into the session of a victim is gone when the victim signs in.
  def test_fixation
    visit("/count")

    assert_equal({"user" => 7}.to_s, visit("/sign_in").body)
    visit("/sign_out")

    assert_empty @jar
  end

  def test_a_session_that_browsers_would_drop
    error = assert_raises(Pelton::Web::CookieOverflow) { visit("/large") }

    assert_match(/\Athe session has 5\d\d\d bytes when it is encrypted, and browsers keep 4096 at most: keep large things in the database/,
      error.message)
  end

  def test_flash
    assert_equal 302, visit("/notice").status
    visit("/plain")

    assert_equal ["\"Saved.\"", "nil"], Array.new(2) { visit("/flash").body }
    assert_empty @jar
  end

  def test_cookies_of_the_application
    assert_match(/\Atheme=a\+%3Bb%0D%0Ac%3A\+d; path/, visit("/theme?theme=a+%3Bb%0d%0ac:+d")["set-cookie"])
    assert_nil visit("/theme?theme=a+%3Bb%0d%0ac:+d")["set-cookie"], "unchanged"
  end

  def test_a_rescued_error_keeps_the_session
    assert_equal 404, visit("/failing").status
    assert_equal "101", visit("/count").body
  end

  def test_without_a_secret
    app = Class.new(Pelton::Web::Application) do
      settings.secrets = []
      routes { get "/show", to: "web_controller_sessions_test/web_counter#show" }
    end

    assert_match(/settings.secrets/,
      assert_raises(Pelton::Web::ConfigurationError) { visit("/show", app: app) }.message)
  end

  # Each request of a fiber of its own has its own session, also while others wait.
  def test_fibers_do_not_share_sessions
    app = Class.new(Pelton::Web::Application) do
      settings.secrets = ["s" * 64]
      routes do
        get("/:id") do
          session[:id] = params[:id]
          sleep 0
          session[:again] = session[:id]
          sleep 0
          "#{session[:id]} #{session[:again]}"
        end
      end
    end
    bodies = Pelton.run { Pelton.map((1..50).to_a) { |id| request(app, "GET", "/#{id}").body } }

    assert_equal (1..50).map { |id| "#{id} #{id}" }, bodies
  end
end
