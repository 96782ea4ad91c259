# app/controllers/api/issues_controller.rb
# frozen_string_literal: true

module Api
  class IssuesController < ApplicationController
    ISSUE = Pelton::Web::Params::Schema.new do
      required :title, :string, max: 100
      optional :text, :string, max: 10_000
    end

    rate_limit to: 300, within: 60
    before_action :find_client

    def index
      issues = paginate(Issue.search(params.string(:q, default: "", max: 100)), by: :cursor)
      link_pages(issues)
      render json: issues.map { |issue| document(issue) }
    end

    def show
      render json: document(Issue.with_pk!(params.integer(:id)))
    end

    def create
      issue = Issue.create(params.permit(ISSUE)) { |new| new.user = @client }
      headers["location"] = api_issue_path(issue)
      render json: document(issue), status: 201
    end

    private

    def find_client
      @client = authenticate_or_request_with_http_token { |token| ApiToken.first(token: token)&.user }
    end

    def document(issue)
      {id: issue.id, title: issue.title, text: issue.text, state: issue.state, reported_at: issue.created_at.iso8601}
    end
  end
end
