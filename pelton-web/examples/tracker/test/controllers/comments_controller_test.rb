# test/controllers/comments_controller_test.rb
# frozen_string_literal: true

require "test_helper"

class CommentsControllerTest < ApplicationTest
  def setup
    @issue = Issue.create(title: "It breaks") { |issue| issue.user = create_user("bob@example.com") }
    sign_in
  end

  def comment(text = "Here, too.") = post("/issues/#{@issue.id}/comments", comment: {text: text})

  def test_a_comment_is_shown_and_the_reporter_gets_a_mail
    address, subject, text = mails { comment }.first
    follow_redirect!

    assert_response 200, "Here, too."
    assert_equal "bob@example.com", address
    assert_equal "A comment on \"It breaks\"", subject
    assert_includes text, "/issues/#{@issue.id}"
  end

  def test_it_comes_to_those_who_have_the_page_open
    get_events "/issues/#{@issue.id}/live" do |events|
      mails { comment("<i>news</i>") }

      assert_includes events.next.data, "&lt;i&gt;news"
    end
    assert_equal 0, Live.readers(@issue.id)
  end
end
