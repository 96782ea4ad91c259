# frozen_string_literal: true

require "securerandom"

# For bots: `authorization: Bearer TOKEN`, and the text as JSON or a form.
class ApiController < ApplicationController
  before_action { @bot = authenticate_or_request_with_http_token { |token| Bot.of_token(token) } }
  rate_limit to: 60, within: 60, by: -> { @bot.id } # the header can be spelled in many ways

  def create
    room = @bot.user.rooms_dataset.with_pk!(params.integer(:room_id))
    message = Message.post(room, @bot.user, text: params.string(:text, max: 10_000),
      client_id: params.string(:client_id, default: SecureRandom.uuid, max: 36))
    return render(json: {error: message.errors.full_messages.join(", ")}, status: 422) if message.errors.any?
    Announcement.message(message) if message.posted?
    render json: {id: message.id}, status: 201
  end
end
