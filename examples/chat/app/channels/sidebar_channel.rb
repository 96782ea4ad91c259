# frozen_string_literal: true

# Says which of the user's rooms have something new, and when to load the list of rooms again.
class SidebarChannel < Pelton::Web::Channel
  include OwnStream

  def subscribed
    return reject unless user
    stream_from_own
    sidebar = Sidebar.new(user)
    sidebar.each { |entry| stream_from("news:#{entry.id}") }
    transmit({type: "unread", rooms: Sidebar.new(user).select(&:unread).map(&:id)}) # since the page was rendered
  end

  private

  def heed(message)
    stop_stream_from("news:#{message["room"]}") if message["type"] == "left"
    transmit(message)
  end
end
