# frozen_string_literal: true

class SessionsController < ApplicationController
  skip_forgery_protection

  def create
    cookies.encrypted[:user_id] = {value: User.find(params[:user]).id, httponly: true}
    head :created
  end
end
