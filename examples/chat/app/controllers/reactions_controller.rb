# frozen_string_literal: true

class ReactionsController < ApplicationController
  before_action :require_sign_in

  # Adds a reaction, or takes it back.
  def create
    find_room
    @message = @room.messages_dataset.with_pk!(params.integer(:message_id))
    @message.react(current_user, params.enum(:emoji, Reaction::CHOICE))
    Announcement.edit(@message)
    redirect_to room_message_path(@room, @message)
  end
end
