# frozen_string_literal: true

require "pelton/web"
require_relative "../support/requests"

class WebControllerAuthenticationTest < PeltonTest
  include WebRequests

  class WebAdminController < Pelton::Web::Controller
    http_basic_authenticate_with name: "ada", password: "sécret:1", realm: "The \"Office\"", only: :office
    before_action :find_client, only: :api

    def office = render(text: "office")
    def api = render(text: @client)
    def maybe = render(text: authenticate_with_http_basic { |name, password| "#{name} #{password}" }.inspect)

    private

    def find_client = @client = authenticate_or_request_with_http_token { |token| {"t0ken" => "client 1"}[token] }
  end

  APPLICATION = Class.new(Pelton::Web::Application) do
    routes do
      %w[office api maybe].each { |name| get "/#{name}", to: "web_controller_authentication_test/web_admin##{name}" }
    end
  end

  def get(path, authorization = nil) = request(APPLICATION, "GET", path, "HTTP_AUTHORIZATION" => authorization)

  def basic(text) = "Basic #{[text].pack("m0")}"

  def test_name_and_password
    assert_equal "office", get("/office", basic("ada:sécret:1")).body
    assert_equal "office", get("/office", basic("ada:sécret:1").sub("Basic", "BASIC")).body
    ["ada:secret", "ad:sécret:1", "ada", "", ":", "ada:sécret:1x", "\xff:\xff"].each do |text|
      assert_equal 401, get("/office", basic(text)).status, text
    end
  end

  def test_the_challenge
    answer = get("/office")

    assert_equal 401, answer.status
    assert_equal "Basic realm=\"The \\\"Office\\\"\", charset=\"UTF-8\"", answer["www-authenticate"]
    assert_equal "no-store", answer["cache-control"]
    assert_equal "Bearer realm=\"Application\"", get("/api")["www-authenticate"]
  end

  def test_a_token
    assert_equal "client 1", get("/api", "Bearer t0ken").body
    ["Bearer t0kem", "Bearer", "Bearer ", "Bearer t0ken t0ken", "Bearer t0ken\0", "Basic t0ken", "t0ken",
      "Bearer \xff".b].each do |text|
      assert_equal 401, get("/api", text).status, text
    end
  end

  def test_it_may_be_optional
    answer = get("/maybe")
    assert_equal 200, answer.status
    assert_equal "nil", answer.body
    assert_equal "\"a b\"", get("/maybe", basic("a:b")).body
  end
end
