# frozen_string_literal: true

# Sends each new message of a room to the pages that are open, in all processes.
class RoomChannel < Pelton::Web::Channel
  def subscribed
    room = connection.user&.rooms&.find_by(id: params.integer(:id)) or return reject
    stream_from("room:#{room.id}")
  end
end
