# frozen_string_literal: true

# The live part of a room's page: messages, who is there, who types.
class RoomChannel < Pelton::Web::Channel
  TYPING = 2 # seconds between two signs of typing of one client that are passed on

  def subscribed
    return reject unless user
    @room = user.rooms.find(params.integer(:id))
    stream_from(@room.stream)
    track_presence("#{@room.stream}:presence", id: user.id, info: {name: user.name})
    stream_from("user:#{user.id}") { |message| heed(message) }
  end

  def typing
    now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    return if @typed && @typed > now - TYPING
    @typed = now
    broadcast(@room.stream, {type: "typing", user: user.id, name: user.name})
  end

  # The page shows the messages up to this one.
  def read(data) = Membership.read(@room.id, user.id, data.integer(:id))

  private

  def user = connection.user

  # Who is removed from the room, or from the chat, gets nothing more.
  def heed(message)
    case message["type"]
    when "left" then leave if message["room"] == @room.id
    when "deactivated" then connection.close(reason: "deactivated", reconnect: false)
    end
  end

  def leave
    stop_all_streams
    leave_presence("#{@room.stream}:presence")
    transmit({type: "gone"})
  end
end
