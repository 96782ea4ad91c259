# frozen_string_literal: true

class SearchesController < ApplicationController
  before_action :require_sign_in
  rate_limit to: 60, within: 60, by: -> { current_user&.id }

  def show
    @words = params.string(:q, default: "", max: 200)
    @search = MessageSearch.new(current_user, @words)
  end
end
