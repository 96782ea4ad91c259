# frozen_string_literal: true

# Asks the model, and writes its answer as it comes.
class AnswerJob < ApplicationJob
  pelton_timeout 300
  retry_on Pelton::ResumableStream::Busy, wait: 15.seconds, attempts: 4

  def perform(answer)
    *before, question = answer.earlier
    chat = RubyLLM.chat(model: ENV.fetch("MODEL", "pretend"), provider: :openai, assume_model_exists: true)
    before.each { |message| chat.add_message(role: message.role.to_sym, content: message.content) }
    answer.content_stream.write do |out|
      chat.ask(question.content) { |chunk| out << chunk.content }
    end
  end
end
