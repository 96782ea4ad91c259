# frozen_string_literal: true

require "securerandom"

# Sends a message to the bots that it mentions, in the background. What a bot replies, as text, is posted in its name.
module Webhook
  ATTEMPTS = 4
  LARGEST = 10_000 # bytes of a reply
  # Administrators choose the addresses, but need not have access to the network of the server.
  CLIENT =
    Pelton::HTTP::Client.new(allow: (:public unless ENV["PRIVATE_WEBHOOKS"] == "1"), proxy: nil, redirects: 0,
      timeout: 10, max_body: LARGEST)

  class << self
    # Members of the room alone: a bot hears nothing of others.
    def call_mentioned(message)
      handles = MessageText.handles(message.text)
      return if handles.empty? || message.user.bot?
      users =
        User.bot.where(handle: handles, deactivated_at: nil,
          id: Membership.where(room_id: message.room_id).select(:user_id))
      Bot.where(user_id: users.select(:id)).exclude(webhook_url: nil).all.each do |bot|
        BACKGROUND.run("webhook of #{bot.user.name}, message #{message.id}") { call(bot, message) }
      end
    end

    # @return [Message, nil] the reply
    # @raise [Pelton::Error] the last attempt's
    # @asynchronous
    def call(bot, message, delay: 1, client: CLIENT)
      attempts = 0
      begin
        reply = deliver(client, bot, message)
      rescue Pelton::ConnectionError, Pelton::TimeoutError
        raise if (attempts += 1) >= ATTEMPTS
        sleep(delay * 4**(attempts - 1))
        retry
      end
      answer(bot, message, reply)
    end

    private

    def deliver(client, bot, message)
      document = {message: {id: message.id, text: message.text}, room: {id: message.room_id, name: message.room.name},
                  user: {id: message.user_id, name: message.user.name, handle: message.user.handle}}
      response = client.post(bot.webhook_url, json: document)
      raise Pelton::ConnectionError, "#{bot.user.name}'s webhook answers #{response.status}" if response.status >= 500
      response
    end

    def answer(bot, message, response)
      text = response.body.to_s.dup.force_encoding("UTF-8")
      unless response.status == 200 && response.headers["content-type"].to_s.start_with?("text/plain") &&
          text.valid_encoding? && !text.strip.empty?
        return
      end
      Message.post(message.room, bot.user, text: text, client_id: SecureRandom.uuid).tap do |reply|
        Announcement.message(reply) if reply.errors.empty?
      end
    end
  end
end
