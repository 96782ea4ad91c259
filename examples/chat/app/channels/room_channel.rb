# frozen_string_literal: true

# The live part of a room's page: messages, who is there, who types.
class RoomChannel < Pelton::Web::Channel
  include OwnStream

  TYPING = 2 # seconds between two signs of typing of one client that are passed on

  def subscribed
    return reject unless user
    @room = user.rooms_dataset.with_pk!(params.integer(:id))
    stream_from(@room.stream)
    stream_from(typists)
    stream_from_own
    track_presence(presence, id: user.id, info: {name: user.name})
  end

  def typing
    now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    return if @left || (@typed && @typed > now - TYPING)
    @typed = now
    broadcast(typists, {type: "typing", user: user.id, name: user.name})
  end

  # The page shows the messages up to this one.
  def read(data) = @left || Announcement.read(@room.id, user.id, data.integer(:id))

  private

  def presence = "#{@room.stream}:presence"

  # Is not kept, unlike the room's stream: nobody wants to know who has been typing.
  def typists = "#{@room.stream}:typists"

  # Who is removed from the room gets nothing more.
  def heed(message)
    return unless message["type"] == "left" && message["room"] == @room.id
    @left = true
    stop_all_streams
    leave_presence(presence)
    transmit({type: "gone"})
  end
end
