# test/controllers/api/issues_controller_test.rb
# frozen_string_literal: true

require "test_helper"

class ApiIssuesControllerTest < ApplicationTest
  def setup
    @user = create_user
    header "Authorization", "Bearer #{ApiToken.create(user: @user).token}"
    header "Accept", "application/json"
  end

  def test_an_issue_is_reported_and_read
    send_json :post, "/api/issues", {title: "It breaks"}

    assert_response 201
    assert_equal @user.id, Issue.first.user_id
    assert_equal "It breaks", Issue.first.title
    get response["location"]

    assert_equal "reported", json_response.fetch("state")
  end

  def test_a_list_leads_to_its_next_page
    21.times { |number| Issue.create(title: "Number #{number}") { |issue| issue.user = @user } }
    get "/api/issues"

    assert_equal 20, json_response.size
    get response["link"][/<([^>]+)>; rel="next"/, 1]

    assert_equal ["Number 0"], json_response.map { |issue| issue.fetch("title") }
  end

  def test_problems
    send_json :post, "/api/issues", {title: ""}

    assert_response 422
    assert_equal "application/problem+json", response["content-type"]
    assert_equal ["title"], json_response.fetch("errors").map { |error| error.fetch("name") }
    send_json :post, "/api/issues", {title: "  "}

    assert_response 422, "title is not present"
    get "/api/issues/77"

    assert_response 404
    assert_equal 404, json_response.fetch("status")
    header "Authorization", "Bearer nobody"
    get "/api/issues"

    assert_response 401
    assert_equal "application/problem+json", response["content-type"]
  end
end
