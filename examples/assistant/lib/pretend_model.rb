# frozen_string_literal: true

require "pelton/http"

# A server with the interface of OpenAI's chat completions, whose answers are made up, and come slowly: a word every
# PRETEND_PAUSE seconds.
class PretendModel
  PAUSE = Float(ENV.fetch("PRETEND_PAUSE", 0.05))
  WORDS = %w[the a fiber reactor page job answer stream waits resumes arrives quietly slowly again while until because
    every one of them knows
    where it was].freeze
  BEGINNING = "You have asked: %<question>s\n\nNobody has thought about it, since this text is made up. "

  class << self
    # Answers that are being sent.
    attr_accessor :running
  end
  self.running = 0

  def call(env)
    case env["PATH_INFO"]
    when "/v1/chat/completions" then complete(JSON.parse(env["rack.input"].read))
    when "/running" then [200, {"content-type" => "text/plain"}, [PretendModel.running.to_s]]
    else [404, {"content-type" => "text/plain"}, ["not found"]]
    end
  end

  private

  def complete(request)
    question = request.fetch("messages").last["content"].to_s
    events = Pelton::HTTP::EventStream.new { |out| answer(out, question, request["model"]) }
    [200, events.headers, events]
  end

  def answer(out, question, model)
    PretendModel.running += 1
    pieces(question).each do |piece|
      out.emit(chunk(model, {content: piece}))
      sleep PAUSE
    end
    out.emit(chunk(model, {}, "stop"))
    out.emit("[DONE]")
  ensure
    PretendModel.running -= 1
  end

  # The same question has the same answer. A question with a number gets so many words.
  def pieces(question)
    chance = Random.new(question.sum)
    count = question[/\d+/]&.to_i || 120
    words = Array.new(count.clamp(1, 10_000)) do |index|
      "#{WORDS.sample(random: chance)}#{(index % 12 == 11) ? ".\n" : " "}"
    end
    format(BEGINNING, question: question[0, 200]).split(/(?<=\s)/) + words
  end

  def chunk(model, delta, reason = nil)
    JSON.generate(id: "pretend", object: "chat.completion.chunk", model: model, choices: [{index: 0, delta: delta,
                                                                                           finish_reason: reason}])
  end
end
