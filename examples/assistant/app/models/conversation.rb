# frozen_string_literal: true

class Conversation < ApplicationRecord
  has_many :messages, -> { order(:id) }, dependent: :delete_all

  # @return [Message] the answer, which a job writes
  # @raise [ActiveRecord::RecordNotSaved] another answer is being written
  def ask(text)
    transaction do
      messages.create!(role: "user", content: text, content_state: "finished")
      messages.create!(role: "assistant").tap { |answer| AnswerJob.perform_later(answer) }
    end
  end

  def title = messages.first&.content&.truncate(40) || "New conversation"
end
