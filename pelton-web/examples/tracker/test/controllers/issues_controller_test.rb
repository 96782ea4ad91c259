# test/controllers/issues_controller_test.rb
# frozen_string_literal: true

require "test_helper"

class IssuesControllerTest < ApplicationTest
  def report(title = "It breaks", user: create_user)
    Issue.create(title: title, text: "100% of the time") { |issue| issue.user = user }
  end

  def test_an_issue_is_reported_and_shown
    sign_in
    get "/issues/new"
    post "/issues", issue: {title: "It <b>breaks</b>", text: "When I\nclick."}
    follow_redirect!

    assert_response 200, "Thank you.", "It &lt;b&gt;breaks&lt;/b&gt;", "ann@example.com"
  end

  def test_a_form_with_mistakes_is_shown_again
    sign_in
    post "/issues", issue: {title: "", text: "a text"}

    assert_response 422, "is not present", "a text"
    assert_equal 0, Issue.count
  end

  def test_the_reporter_alone_changes_it
    issue = report
    sign_in(User.first)
    patch "/issues/#{issue.id}", issue: {state: "fixed"}

    assert_redirected_to "/issues/#{issue.id}"
    assert_equal "fixed", issue.reload.state
    sign_in(create_user("bob@example.com"))
    patch "/issues/#{issue.id}", issue: {title: "mine"}

    assert_response 403
    assert_equal "It breaks", issue.reload.title
  end

  def test_who_is_not_signed_in_is_sent_to_the_sign_in_and_back
    get "/issues/new"
    sign_in

    assert_redirected_to "/issues/new"
  end

  def test_search
    user = create_user
    report("Printing a page", user: user)
    report("Saving a page", user: user)
    get "/issues?q=PAGE+print"

    assert_response 200, "Printing a page"
    refute_includes response.body, "Saving"
    get "/issues?q=1%25_%27"

    refute_includes response.body, "a page"
  end
end
