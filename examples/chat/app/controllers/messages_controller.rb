# frozen_string_literal: true

require "securerandom"

class MessagesController < ApplicationController
  before_action :require_sign_in
  before_action :find_room
  before_action :find_message, only: [:show, :update, :destroy]
  rate_limit to: 120, within: 60, only: :create, by: -> { current_user&.id }

  # For scrolling upwards, or what came `after` a message, where the server has not kept it for a page that was away.
  def index
    if (after = params.integer(:after, default: nil))
      @messages = Message.where(room_id: @room.id).where { id > after }.order(:id).limit(500).includes(:user, :reactions, :attachment).to_a
      return render(partial: "message", collection: @messages)
    end
    @messages = MessageList.new(@room, before: params.integer(:before, default: nil))
    render partial: "list"
  end

  # A message alone, with what can be done to it.
  def show
  end

  def create
    form = params.require(:message).permit(:text, :client_id)
    @message = Message.post(@room, current_user, text: form[:text], client_id: form[:client_id].presence || SecureRandom.uuid)
    return refuse if @message.errors.any?
    announce("message")
    Pelton::Cable.broadcast(@room.news, {type: "news", room: @room.id, message: @message.id})
    wants_json? ? render(json: {id: @message.id}, status: 201) : redirect_to(room_path(@room))
  end

  def update
    return render(:show, status: 422) unless @message.edit(params.require(:message).permit(:text)[:text])
    announce("edit")
    redirect_to room_message_path(@room, @message)
  end

  def destroy
    @message.remove
    Pelton::Cable.broadcast(@room.stream, {type: "delete", id: @message.id})
    redirect_to room_path(@room)
  end

  private

  def find_message
    @message = @room.messages.find(params.integer(:id))
    raise Pelton::Web::Forbidden, "Only its author can change a message." unless request.get? || request.head? || @message.changeable_by?(current_user)
  end

  def announce(type)
    Pelton::Cable.broadcast(@room.stream, {type: type, id: @message.id, client_id: @message.client_id, html: render_to_string(partial: "messages/message", locals: {message: @message})})
  end

  def refuse
    problem = @message.errors.full_messages.join(", ")
    return render(json: {error: problem}, status: 422) if wants_json?
    redirect_to room_path(@room), alert: problem
  end

  def wants_json? = env["HTTP_ACCEPT"].to_s.include?("application/json")
end
