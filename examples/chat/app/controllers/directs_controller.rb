# frozen_string_literal: true

# Conversations of two.
class DirectsController < ApplicationController
  before_action :require_sign_in

  def new
    words = params.string(:q, default: "", max: 60)
    found = User.where(deactivated_at: nil).order(:name, :id)
    found = found.where(Sequel.ilike(:name, "%#{found.escape_like(words)}%")) unless words.empty?
    @users = paginate(found)
  end

  def create
    other = User.first!(id: params.integer(:user_id), deactivated_at: nil)
    room = Room.direct([current_user, other])
    sidebar_changed(current_user, other)
    redirect_to room_path(room)
  end
end
