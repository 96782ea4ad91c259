# frozen_string_literal: true

class MessagesController < ApplicationController
  def create
    conversation = Conversation.find(params[:conversation_id])
    conversation.ask(params.require(:text))
    redirect_to conversation
  rescue ActiveRecord::RecordNotSaved
    redirect_to conversation, alert: "One answer at a time: stop it, or wait for its end."
  end

  # The answer as it grows. When it has ended, the page gets the whole message, without the button.
  def stream
    follow_stream(message, :content) do |event|
      turbo_stream.replace(message) if %i[finished cancelled failed].include?(event.type)
    end
  end

  def stop
    message.content_stream.cancel
    redirect_to message.conversation
  end

  def again
    answer = message
    if %w[failed interrupted].include?(answer.content_stream.snapshot.state)
      answer.update!(content_state: "waiting")
      AnswerJob.perform_later(answer)
    end
    redirect_to answer.conversation
  end

  private

  def message = Message.find(params[:id])
end
