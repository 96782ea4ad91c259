# frozen_string_literal: true

require "test_helper"
require "pelton/web"
require_relative "../support/route_model"
require_relative "../support/routing"

class WebRoutesRouterTest < PeltonTest
  include WebRouting

  self.deadline = 7200 if ENV.key?("ROUTE_TABLES")

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
      mount ->(env) { [200, {"content-type" => "text/plain"}, [env.values_at("SCRIPT_NAME", "PATH_INFO").join(" ")]] },
        at: "/api"
    end
  end

  def test_paths
    {
      "/" => "GET / {}", "/posts" => "GET /posts(.:format) {}", "/posts/" => "GET /posts(.:format) {}",
      "/posts.json" => 'GET /posts(.:format) {"format"=>"json"}',
      "/posts/1" => 'GET /posts/:id(.:format) {"id"=>"1"}', "/posts/1/" => 'GET /posts/:id(.:format) {"id"=>"1"}',
      "/posts/1.5.json" => 'GET /posts/:id(.:format) {"id"=>"1.5", "format"=>"json"}',
      "/feed.xml" => "GET /feed.xml {}",
      "/data/a.csv" => 'GET /data/:name(.:format) {"name"=>"a", "format"=>"csv"}',
      "/data/a.txt" => 'GET /data/:name(.:format) {"name"=>"a.txt"}',
      "/caf%C3%A9/1" => "GET /caf\u00e9/:id {\"id\"=>\"1\"}", "/%70osts" => "GET /posts(.:format) {}",
      "/posts/a%2Fb" => 'GET /posts/:id(.:format) {"id"=>"a/b"}'
    }.each { |path, expected| assert_equal expected, get(app, path).force_encoding("UTF-8"), path }
  end

  def test_what_is_not_there
    ["/nothing", "//", "//posts", "/posts//1", "/posts%2F1", "/.json", "/apix"].each do |path|
      assert_equal 404, status_of_path(path), path
    end
  end

  def test_what_is_no_path
    ["/posts/%ff", "/posts/%00", "/%", "/%zz"].each { |path| assert_equal 400, status_of_path(path), path }
  end

  def test_head_and_options_answer_by_themselves
    head = request(app, "HEAD", "/posts/1")

    assert_equal 200, head.status
    assert_equal "", head.body
    assert_equal "36", head["content-length"]
    answer = request(app, "OPTIONS", "/posts/1")
    assert_equal 204, answer.status
    assert_equal %w[GET HEAD OPTIONS PATCH], answer["allow"].split(", ").sort
    assert_equal 404, request(app, "OPTIONS", "/nothing").status
  end

  def test_other_verbs
    answer = request(app, "DELETE", "/posts/1")

    assert_equal 405, answer.status
    assert_equal %w[GET HEAD OPTIONS PATCH], answer["allow"].split(", ").sort
    assert_equal ["/any {}"], %w[GET PUT OPTIONS].map { |verb| request(app, verb, "/any").body }.uniq
  end

  def test_a_form_s_verb
    answer = request(app, "POST", "/posts/1", params: {"_method" => "patch"})

    assert_equal 'PATCH /posts/:id {"id"=>"1"}', answer.body
    assert_equal 405, request(app, "POST", "/posts/1", params: {"a" => "b"}).status
  end

  def test_the_action_and_no_mounted_application_sees_the_verb_of_the_form
    seen = []
    endpoint = ->(env, *) {
      seen << env.values_at("REQUEST_METHOD", "rack.methodoverride.original_method") &&
        [200, {}, []]
    }
    route = Pelton::Web::Routes::Route.new("PATCH", Pelton::Web::Routes::Pattern.new("/a"), nil)
    router = Pelton::Web::Routes::Router.new([[route, endpoint]], [Pelton::Web::Routes::Mount.new(endpoint, "/")])
    %w[PATCH DELETE].each { |verb| request(router, "POST", "/a", params: {"_method" => verb}) }

    assert_equal [%w[PATCH POST], ["POST", nil]], seen
  end

  # A POST of a less specific route must not answer what its form calls a DELETE.
  def test_a_form_s_verb_holds_for_all_routes
    app = router do
      patch "/posts", to: "a#b"
      post "/:any", to: "a#b"
    end

    assert_equal 405, request(app, "POST", "/posts", params: {"_method" => "delete"}).status
    assert_equal 'POST /:any {"any"=>"x"}', request(app, "POST", "/x", params: {"_method" => "delete"}).body
  end

  def test_a_form_that_cannot_be_read_is_a_bad_request
    answer = request(app, "POST", "/posts/1", :input => "_method=%zz",
      "CONTENT_TYPE" => "application/x-www-form-urlencoded")

    assert_equal 400, answer.status
  end

  def test_mounted_applications_come_last
    {"/api" => "/api ", "/api/" => "/api /", "/api/a%2Fb" => "/api /a%2Fb"}.each do |path, expected|
      assert_equal expected, get(app, path), path
    end
    assert_equal "/api /x", request(app, "POST", "/api/x").body
  end

  def test_an_empty_path_is_the_root
    assert_equal "GET / {}", get(app, "", "SCRIPT_NAME" => "/mounted", "PATH_INFO" => "")
  end

  def test_strings_are_utf_8
    captures = nil
    router =
      Pelton::Web::Routes::Router.new([[
        Pelton::Web::Routes::Route.new("GET", Pelton::Web::Routes::Pattern.new("/:a(.:format)"), nil),
        ->(_, values) { captures = values }
      ]])
    router.call("REQUEST_METHOD" => "GET", "PATH_INFO" => "/x.y".b)

    assert_equal({"a" => "x", "format" => "y"}, captures)
    assert_equal [Encoding::UTF_8], captures.values.map(&:encoding).uniq
  end

  # `rake "web:routes[100000]"` tries that many tables of routes.
  def test_random_routes_against_a_model
    seed = Integer(ENV.fetch("ROUTES_SEED") { rand(1 << 30) })
    random = RouteModel::Generator.new(Random.new(seed))
    Integer(ENV.fetch("ROUTE_TABLES", "200")).times do |number|
      routes = random.routes
      router, model = modelled(routes), RouteModel.new(routes)
      10.times do
        verb, path, named = random.request(routes)
        expected = model.answer(verb, path, named: named&.upcase)

        assert_equal expected, outcome(router, verb, path, named),
          -> {
            "ROUTES_SEED=#{seed}, table #{number}: #{verb} #{path} #{named}\n" \
            "#{routes.map.with_index { |route, index| "  #{index} #{route.to_h}" }.join("\n")}"
          }
      end
    end
  end

  private

  def modelled(routes)
    endpoints = routes.map.with_index do |route, index|
      pattern = Pelton::Web::Routes::Pattern.new(route.path, constraints: route.constraints)
      [Pelton::Web::Routes::Route.new(route.verb, pattern, nil),
        ->(env, captures) { (env["test.found"] = [:route, index, captures]) && [200, {}, []] if route.guard }]
    end
    Pelton::Web::Routes::Router.new(endpoints)
  end

  def outcome(router, verb, path, named)
    env = {"REQUEST_METHOD" => verb, "PATH_INFO" => path, "QUERY_STRING" => "",
           "rack.input" => StringIO.new("_method=#{named}")}
    env["CONTENT_TYPE"] = "application/x-www-form-urlencoded" if named
    status, headers, = router.call(env)
    case status
    when 200 then env["test.found"]
    when 405 then [:allow, (headers["allow"].split(", ") - ["OPTIONS"]).sort]
    else [:status, status]
    end
  end

  def status_of_path(path) = app.call("REQUEST_METHOD" => "GET", "PATH_INFO" => path, "QUERY_STRING" => "").first
end
