# frozen_string_literal: true

require_relative "../../lib/pretend_model"

# Any server with OpenAI's interface: MODEL_URL=http://127.0.0.1:11434/v1 MODEL=llama3.2 is an Ollama on this machine.
RubyLLM.configure do |config|
  config.openai_api_base = ENV.fetch("MODEL_URL") { "http://127.0.0.1:#{ENV.fetch("PORT", 3000)}/pretend/v1" }
  config.openai_api_key = ENV.fetch("OPENAI_API_KEY", "none")
  config.faraday_adapter = :pelton # waits in fibers, and keeps connections
  config.max_retries = 0           # a piece must not come twice: the job is tried again instead
  config.logger = Rails.logger
end
