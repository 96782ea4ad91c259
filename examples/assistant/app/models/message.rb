# frozen_string_literal: true

class Message < ApplicationRecord
  belongs_to :conversation, touch: true
  resumable_stream :content, one_per: :conversation

  # @return [Array<Message>] what was said before
  def earlier = conversation.messages.where(id: ...id).where.not(content: nil).to_a
end
