# frozen_string_literal: true

class ConversationsController < ApplicationController
  before_action { @conversations = Conversation.order(updated_at: :desc).limit(50).includes(:messages) }

  def index = @conversation = Conversation.new

  def show
    @conversation = Conversation.find(params[:id])
    render :index
  end

  def create
    conversation = Conversation.create!
    conversation.ask(params.require(:text))
    redirect_to conversation
  end

  def destroy
    conversation = Conversation.find(params[:id])
    conversation.messages.content_open.each { |message| message.content_stream.cancel }
    conversation.destroy!
    redirect_to root_path, status: :see_other
  end
end
