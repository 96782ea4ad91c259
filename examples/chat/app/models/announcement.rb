# frozen_string_literal: true

# Tells the open pages of a room, in all processes, what has happened to a message.
module Announcement
  class << self
    EXCERPT = 200 # characters of a message in a notification

    # A new message: also for the marks of unread rooms, and for the users and bots that it mentions.
    def message(message)
      broadcast("message", message)
      mention(message)
      Pelton::Cable.broadcast(message.room.news, {type: "news", room: message.room_id, message: message.id})
      tell_read(message.room_id, message.user_id, message.id)
      Webhook.call_mentioned(message)
    end

    # The user has read a room up to a message: the marks go away on all their devices.
    def read(room_id, user_id, message_id)
      Membership.read(room_id, user_id, message_id).positive? && tell_read(room_id, user_id, message_id)
    end

    # Of two changes at once either may be announced last. The version, which is read before the message, tells pages
    # which HTML has both.
    #
    # @return [Hash] what pages get
    def edit(message)
      version = Room.where(id: message.room_id).get(:version)
      broadcast("edit", Message.with_pk!(message.id), version: version)
    end

    def delete(message) = Pelton::Cable.broadcast(message.room.stream, {type: "delete", id: message.id})

    private

    def tell_read(room_id, user_id, message_id)
      Pelton::Cable.broadcast("user:#{user_id}", {type: "read", room: room_id, message: message_id})
    end

    # For notifications: of whom the text mentions, and in a conversation of the others.
    def mention(message)
      room = message.room
      handles = MessageText.handles(message.text)
      return if handles.empty? && !room.kind_direct?
      users = room.users_dataset.exclude(Sequel[:users][:id] => message.user_id)
      users = users.where(handle: handles) unless room.kind_direct?
      title = room.kind_direct? ? message.user.name : "#{message.user.name} in #{room.name}"
      note = {type: "mention", room: room.id, message: message.id, title: title, text: message.text[0, EXCERPT]}
      users.select_map(Sequel[:users][:id]).each { |id| Pelton::Cable.broadcast("user:#{id}", note) }
    end

    def broadcast(type, message, **more)
      html = Chat.settings.templates.render("messages/_message", locals: {message: message})
      change = {type: type, id: message.id, client_id: message.client_id, html: html, **more}
      Pelton::Cable.broadcast(message.room.stream, change)
      change
    end
  end
end
