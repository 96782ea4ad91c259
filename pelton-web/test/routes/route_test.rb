# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebRoutesRouteTest < PeltonTest
  def test_guards_decide_by_the_request
    route = Pelton::Web::Routes::Route.new("GET", Pelton::Web::Routes::Pattern.new("/"), nil,
      guards: [->(request) { request.host == "a.example" }])
    endpoint = route.guard(->(_env, _captures) { :answer })

    assert_equal :answer, endpoint.call({"HTTP_HOST" => "a.example"}, {})
    assert_nil endpoint.call({"HTTP_HOST" => "b.example"}, {})
  end

  def test_without_guards_the_endpoint_stays_as_it_is
    endpoint = -> {}

    assert_same endpoint,
      Pelton::Web::Routes::Route.new("GET", Pelton::Web::Routes::Pattern.new("/"), nil).guard(endpoint)
  end
end
