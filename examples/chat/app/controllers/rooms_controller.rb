# frozen_string_literal: true

class RoomsController < ApplicationController
  before_action :require_sign_in

  def index
    @rooms = current_user.rooms.order(:name).to_a
  end

  def show
    @room = current_user.rooms.find(params.integer(:id))
    @messages = Message.page(@room)
  end

  def new
    @room = Room.new
  end

  def create
    @room = Room.new(creator: current_user, **params.require(:room).permit(:name))
    return render(:new, status: 422) unless @room.save
    @room.memberships.create!(user: current_user)
    redirect_to room_path(@room)
  end
end
