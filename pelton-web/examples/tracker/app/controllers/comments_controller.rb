# app/controllers/comments_controller.rb
# frozen_string_literal: true

class CommentsController < ApplicationController
  before_action :require_sign_in
  rate_limit to: 30, within: 60, only: :create, by: -> { current_user.id }

  def create
    @issue = Issue.with_pk!(params.integer(:issue_id))
    @comment = Comment.new(params.require(:comment).permit(:text)) { |new| new.issue, new.user = @issue, current_user }
    return render("issues/show", status: 422) unless @comment.save(raise_on_failure: false)
    Live.publish(@issue.id, render_to_string(partial: "comments/comment", locals: {comment: @comment}))
    send_mail unless @issue.user_id == current_user.id
    redirect_to issue_path(@issue)
  end

  private

  def send_mail
    comment = @comment
    BACKGROUND.run("mail about comment #{comment.id}") do
      link = Tracker.urls.issue_url(comment.issue)
      UserMails.deliver(comment.issue.user.email, "A comment on \"#{comment.issue.title}\"",
        "#{comment.text}\n\n#{link}\n")
    end
  end
end
