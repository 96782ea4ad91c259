# frozen_string_literal: true

require "securerandom"

class MessagesController < ApplicationController
  # Lets go of an uploaded file.
  class Refused < StandardError; end
  private_constant :Refused

  before_action :require_sign_in
  before_action :find_room
  before_action :find_message, only: [:show, :update, :destroy]
  rate_limit to: 120, within: 60, only: :create, by: -> { current_user&.id }

  # For scrolling upwards, or what came `after` a message, where the server has not kept it for a page that was away.
  def index
    if (after = params.integer(:after, default: nil))
      @messages = @room.messages_dataset.where(Sequel[:id] > after).order(:id).limit(500).eager(:user, :reactions,
        :attachment).all
      return render(partial: "message", collection: @messages)
    end
    render partial: "list", locals: {messages: MessageList.new(@room, before: params.integer(:before, default: nil))}
  end

  # A message alone, with what can be done to it; for scripts, its text as it was typed.
  def show
    render json: {text: @message.text} if wants_json?
  end

  def create
    form = params.require(:message)
    text, client_id = %i[text client_id].map { |name| form.string(name, default: "") }
    client_id = SecureRandom.uuid if client_id.empty?
    @message = with_attachment do |attachment|
      Message.post(@room, current_user, text: text, client_id: client_id, attachment: attachment)
    end
    return refuse(problems, text) if @message.errors.any?
    announce if @message.posted?
    wants_json? ? render(json: {id: @message.id}, status: 201) : redirect_to(room_path(@room,
      anchor: "message_#{@message.id}"))
  rescue Pelton::Web::Params::Invalid => error
    refuse("The file #{error.errors["file"] || raise}.", text)
  end

  def update
    unless @message.edit(params.require(:message).permit(:text)[:text])
      return wants_json? ? render(json: {error: problems}, status: 422) : render(:show, status: 422)
    end
    change = Announcement.edit(@message)
    wants_json? ? render(json: change) : redirect_to(room_message_path(@room, @message))
  end

  def destroy
    @message.remove
    Announcement.delete(@message)
    redirect_to room_path(@room)
  end

  private

  def find_message
    @message = @room.messages_dataset.with_pk!(params.integer(:id))
    unless request.get? || request.head? || @message.changeable_by?(current_user)
      raise Pelton::Web::Forbidden, "Only its author can change a message."
    end
  end

  def problems = @message.errors.full_messages.join(", ")

  def announce
    Announcement.message(@message)
    if @message.attachment&.image?
      BACKGROUND.run("thumbnail of message #{@message.id}") do
        @message.attachment.make_thumbnail.then { Announcement.edit(@message) }
      end
    end
  end

  # The file is kept only if the message is, and is a new one.
  def with_attachment
    upload = params.file(:file, default: nil, max_bytes: Attachment::LARGEST) or return yield
    message = nil
    uploads.keep(upload) do |key|
      message = yield Attachment.new(file: key, name: upload.original_filename.to_s[0,
        255], kind: upload.type, size: upload.size)
      raise Refused unless message.posted?
    end
    message
  rescue Refused
    message
  end

  # The text stays in its field.
  def refuse(problem, text)
    return render(json: {error: problem}, status: 422) if wants_json?
    @title = sidebar.entry(@room.id).name
    @draft = text
    flash.now[:alert] = problem
    render "rooms/show", status: 422
  end

  def wants_json? = env["HTTP_ACCEPT"].to_s.include?("application/json")
end
