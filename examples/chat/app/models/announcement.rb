# frozen_string_literal: true

# Tells the open pages of a room, in all processes, what has happened to a message.
module Announcement
  class << self
    # A new message: also for the marks of unread rooms, and for the bots that it mentions.
    def message(message)
      broadcast("message", message)
      Pelton::Cable.broadcast(message.room.news, {type: "news", room: message.room_id, message: message.id})
      tell_read(message.room_id, message.user_id, message.id)
      Webhook.call_mentioned(message)
    end

    # The user has read a room up to a message: the marks go away on all their devices.
    def read(room_id, user_id, message_id) = Membership.read(room_id, user_id, message_id).positive? && tell_read(room_id, user_id, message_id)

    # Of two changes at once either may be announced last. The version, which is read before the message, tells pages which HTML has both.
    def edit(message)
      version = Room.where(id: message.room_id).get(:version)
      broadcast("edit", Message.with_pk!(message.id), version: version)
    end

    def delete(message) = Pelton::Cable.broadcast(message.room.stream, {type: "delete", id: message.id})

    private

    def tell_read(room_id, user_id, message_id) = Pelton::Cable.broadcast("user:#{user_id}", {type: "read", room: room_id, message: message_id})

    def broadcast(type, message, **more)
      html = Chat.settings.templates.render("messages/_message", locals: {message: message})
      Pelton::Cable.broadcast(message.room.stream, {type: type, id: message.id, client_id: message.client_id, html: html, **more})
    end
  end
end
