# frozen_string_literal: true

require "test_helper"
require "pelton/web"
require_relative "../support/routing"

class WebRoutesRouterTest < PeltonTest
  include WebRouting

  def app
    router do
      root to: "home#index"
      get "/posts(.:format)", to: "posts#index"
      get "/posts/:id(.:format)", to: "posts#show"
      patch "/posts/:id", to: "posts#update"
      get "/feed.xml", to: "feed#show"
      get "/data/:name(.:format)", to: "data#show", constraints: {format: /csv|json/}
      get "/caf\u00e9/:id", to: "cafes#show"
      match "/any", via: :all, to: "any#any"
      mount ->(env) { [200, {"content-type" => "text/plain"}, [env.values_at("SCRIPT_NAME", "PATH_INFO").join(" ")]] }, at: "/api"
    end
  end

  def test_paths
    {
      "/" => "GET / {}", "/posts" => "GET /posts(.:format) {}", "/posts/" => "GET /posts(.:format) {}", "/posts.json" => 'GET /posts(.:format) {"format"=>"json"}',
      "/posts/1" => 'GET /posts/:id(.:format) {"id"=>"1"}', "/posts/1/" => 'GET /posts/:id(.:format) {"id"=>"1"}',
      "/posts/1.5.json" => 'GET /posts/:id(.:format) {"id"=>"1.5", "format"=>"json"}', "/feed.xml" => "GET /feed.xml {}",
      "/data/a.csv" => 'GET /data/:name(.:format) {"name"=>"a", "format"=>"csv"}', "/data/a.txt" => 'GET /data/:name(.:format) {"name"=>"a.txt"}',
      "/caf%C3%A9/1" => "GET /caf\u00e9/:id {\"id\"=>\"1\"}", "/%70osts" => "GET /posts(.:format) {}", "/posts/a%2Fb" => 'GET /posts/:id(.:format) {"id"=>"a/b"}'
    }.each { |path, expected| assert_equal expected, get(app, path).force_encoding("UTF-8"), path }
  end

  def test_what_is_not_there
    ["/nothing", "//", "//posts", "/posts//1", "/posts%2F1", "/.json", "/apix"].each { |path| assert_equal 404, status_of_path(path), path }
  end

  def test_what_is_no_path
    ["/posts/%ff", "/posts/%00", "/%", "/%zz"].each { |path| assert_equal 400, status_of_path(path), path }
  end

  def test_head_and_options_answer_by_themselves
    head = request(app, "HEAD", "/posts/1")

    assert_equal [200, "", "36"], [head.status, head.body, head["content-length"]]
    assert_equal [204, %w[GET HEAD OPTIONS PATCH]], request(app, "OPTIONS", "/posts/1").then { |answer| [answer.status, answer["allow"].split(", ").sort] }
    assert_equal 404, request(app, "OPTIONS", "/nothing").status
  end

  def test_other_verbs
    answer = request(app, "DELETE", "/posts/1")

    assert_equal [405, %w[GET HEAD OPTIONS PATCH]], [answer.status, answer["allow"].split(", ").sort]
    assert_equal ["/any {}"], %w[GET PUT OPTIONS].map { |verb| request(app, verb, "/any").body }.uniq
  end

  def test_a_form_s_verb
    answer = request(app, "POST", "/posts/1", params: {"_method" => "patch"})

    assert_equal 'PATCH /posts/:id {"id"=>"1"}', answer.body
    assert_equal 405, request(app, "POST", "/posts/1", params: {"a" => "b"}).status
  end

  def test_a_form_that_cannot_be_read_is_a_bad_request
    answer = request(app, "POST", "/posts/1", :input => "_method=%zz", "CONTENT_TYPE" => "application/x-www-form-urlencoded")

    assert_equal 400, answer.status
  end

  def test_mounted_applications_come_last
    {"/api" => "/api ", "/api/" => "/api /", "/api/a%2Fb" => "/api /a%2Fb"}.each { |path, expected| assert_equal expected, get(app, path), path }
    assert_equal "/api /x", request(app, "POST", "/api/x").body
  end

  def test_an_empty_path_is_the_root
    assert_equal "GET / {}", get(app, "", "SCRIPT_NAME" => "/mounted", "PATH_INFO" => "")
  end

  def test_strings_are_utf_8
    captures = nil
    router = Pelton::Web::Routes::Router.new([[Pelton::Web::Routes::Route.new("GET", Pelton::Web::Routes::Pattern.new("/:a(.:format)"), nil), ->(_, values) { captures = values }]])
    router.call("REQUEST_METHOD" => "GET", "PATH_INFO" => "/x.y".b)

    assert_equal({"a" => "x", "format" => "y"}, captures)
    assert_equal [Encoding::UTF_8], captures.values.map(&:encoding).uniq
  end

  private

  def status_of_path(path) = app.call("REQUEST_METHOD" => "GET", "PATH_INFO" => path, "QUERY_STRING" => "").first
end
