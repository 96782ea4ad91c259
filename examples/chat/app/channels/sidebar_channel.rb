# frozen_string_literal: true

# Says which of the user's rooms have something new, and when to load the list of rooms again.
class SidebarChannel < Pelton::Web::Channel
  def subscribed
    return reject unless connection.user
    stream_from("user:#{connection.user.id}")
    Membership.where(user_id: connection.user.id).pluck(:room_id).each { |id| stream_from("news:#{id}") }
  end
end
