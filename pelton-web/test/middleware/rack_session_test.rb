# frozen_string_literal: true

require "pelton/web"
require_relative "../support/controllers"

class WebRackSessionTest < PeltonTest
  include WebControllers

  # As OmniAuth and Sidekiq's pages do it: String and Symbol keys, a Hash, deletion.
  class Counter
    def call(env)
      session = env.fetch("rack.session")
      case env["PATH_INFO"]
      when "/count" then session[:count] = (session["count"] || 0) + 1
      when "/keep" then session["params"] = {"a" => [1]}
      when "/forget" then session.delete("count")
      when "/clear" then session.clear
      end
      body = (env["PATH_INFO"] == "/plain") ? "plain" : session.to_hash.to_s.gsub(" => ", "=>")
      [200, {"content-type" => "text/plain"}, [body]]
    end
  end

  class MountedController < Pelton::Web::Controller
    def show = render(text: session[:count].inspect)
    def set = (session[:count] = 10) && (flash[:notice] = "set") && render(text: "set")
    def notice = render(text: flash.notice.inspect)
    def sign_out = reset_session || render(text: "bye")
  end

  def setup
    @cookie = nil
  end

  def test_a_mounted_application_reads_and_writes_the_controllers_session
    assert_equal '{"count"=>1}', visit("/rack/count")
    assert_equal "1", visit("/show")
    visit("/set")
    assert_equal '"set"', visit("/notice")
    assert_equal '{"count"=>11}', visit("/rack/count")
    assert_equal '{"count"=>11, "params"=>{"a"=>[1]}}', visit("/rack/keep")
    assert_equal '{"params"=>{"a"=>[1]}}', visit("/rack/forget")
    visit("/rack/clear")
    assert_equal "{}", visit("/rack/show")
    assert_equal "nil", visit("/show")
  end

  def test_the_session_is_sent_once_and_only_if_it_has_changed
    answer = get("/set")

    assert_kind_of String, answer["set-cookie"]
    assert_equal "private, no-cache", answer["cache-control"]
    @cookie = answer["set-cookie"][/\A[^;]*/]
    assert_nil get("/rack/show")["set-cookie"]
    plain = Rack::MockRequest.new(application).get("/rack/plain") # Rack::Lint reads the session
    assert_nil plain["vary"]
    assert_match(/max-age=0/, get("/sign_out")["set-cookie"])
  end

  def test_middleware_sees_the_session_before_and_after_the_controller
    app = application
    app.use(Class.new do
      define_method(:initialize) { |below| @below = below }
      define_method(:call) do |env|
        env["rack.session"]["before"] = 1
        @below.call(env).tap { env["rack.session"]["after"] = env["rack.session"]["count"] }
      end
    end)

    @app = app
    visit("/set")
    assert_equal 1, @lines
    assert_equal '{"before"=>1, "count"=>10, "flash"=>{"notice"=>"set"}, "after"=>10}', visit("/rack/show")
  end

  def test_an_application_that_answers_later
    app = lambda do |env|
      Pelton.add_timer(0.01) do
        env["rack.session"]["late"] = true
        env["async.callback"].call([200, {}, ["late"]])
      end
      [-1, {}, []]
    end
    with_server(application(app)) do |url|
      response = Pelton::HTTP.get("#{url}/rack/")

      assert_match(/\Asession=/, response["set-cookie"])
      cookie = response["set-cookie"][/\A[^;]*/]
      assert_equal "nil", Pelton::HTTP.get("#{url}/show", headers: {"cookie" => cookie}).body
    end
  end

  def test_an_outer_session_stays
    seen = nil
    app = application(->(env) { (seen = env["rack.session"]) && [200, {}, []] })
    own = {}
    request(app, "GET", "/rack/", "rack.session" => own)

    assert_same own, seen
  end

  def test_there_is_none_without_secrets
    app = application(->(env) { [200, {"content-type" => "text/plain"}, [env.key?("rack.session").to_s]] }) do
      settings.secrets = []
    end

    assert_equal "false", request(app, "GET", "/rack/").body
  end

  private

  def application(mounted = Counter.new, &block)
    Class.new(Pelton::Web::Application) do
      settings.secrets = ["s" * 64]
      class_exec(&block) if block
      routes do
        %w[show set notice sign_out].each { |name| get "/#{name}", to: "web_rack_session_test/mounted##{name}" }
        mount mounted, at: "/rack"
      end
    end
  end

  def get(path) = request(@app ||= application, "GET", path, "HTTP_COOKIE" => @cookie)

  # As a client that keeps cookies.
  def visit(path)
    answer = get(path)
    lines = Array(answer["set-cookie"])
    @lines = lines.size
    lines.each { |line| @cookie = line.include?("max-age=0") ? nil : line[/\A[^;]*/] }
    answer.body
  end
end
