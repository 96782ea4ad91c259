# frozen_string_literal: true

class Membership < Sequel::Model
  many_to_one :room
  many_to_one :user

  # Marks the room as read, up to a message. It never goes back.
  def self.read(room_id, user_id, message_id)
    where(room_id: room_id, user_id: user_id).where { read_message_id < message_id }.update(read_message_id: message_id)
  end
end
