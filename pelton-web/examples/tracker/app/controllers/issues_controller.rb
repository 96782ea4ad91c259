# app/controllers/issues_controller.rb
# frozen_string_literal: true

class IssuesController < ApplicationController
  before_action :require_sign_in, except: [:index, :show, :live]
  before_action :find_issue, only: [:show, :edit, :update, :live]
  before_action :check_reporter, only: [:edit, :update]

  def index
    @issues = paginate(Issue.search(params.string(:q, default: "", max: 100)))
  end

  def show
    @comment = Comment.new
  end

  def new
    @issue = Issue.new
  end

  def create
    @issue = Issue.new(params.require(:issue).permit(:title, :text)) { |new| new.user = current_user }
    return render(:new, status: 422) unless @issue.save(raise_on_failure: false)
    redirect_to issue_path(@issue), notice: "Thank you."
  end

  def edit
  end

  def update
    unless @issue.set(params.require(:issue).permit(:title, :text, :state)).save(changed: true, raise_on_failure: false)
      return render(:edit, status: 422)
    end
    redirect_to issue_path(@issue), notice: "Saved."
  end

  # Sends the HTML of each new comment as a server-sent event. Other requests continue while it waits.
  def live
    event_stream do |events|
      events.comment("connected")
      Live.each(@issue.id) { |html| events.emit(html) }
    end
  end

  private

  def find_issue = @issue = Issue.with_pk!(params.integer(:id))

  def check_reporter
    raise Pelton::Web::Forbidden, "Only its reporter can change an issue." unless @issue.user_id == current_user.id
  end
end
