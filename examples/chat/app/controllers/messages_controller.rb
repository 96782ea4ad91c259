# frozen_string_literal: true

require "securerandom"

class MessagesController < ApplicationController
  before_action :require_sign_in
  before_action :find_room

  # The messages before one, for scrolling upwards.
  def index
    @messages = Message.page(@room, before: params.integer(:before))
    render partial: "message", collection: @messages
  end

  def create
    form = params.require(:message).permit(:text, :client_id)
    message = Message.post(@room, current_user, text: form[:text], client_id: form[:client_id] || SecureRandom.uuid)
    Pelton::Cable.broadcast("room:#{@room.id}", {html: render_to_string(partial: "message", locals: {message: message})})
    redirect_to room_path(@room)
  end

  private

  def find_room = @room = current_user.rooms.find(params.integer(:room_id))
end
