# frozen_string_literal: true

class ApplicationController < ActionController::Base
  private

  def current_user = @current_user ||= User.find_by(id: cookies.encrypted[:user_id])
end
