# frozen_string_literal: true

class ApplicationController < Pelton::Web::Controller
  include CurrentUser

  helper_method :sidebar

  private

  def sidebar = @_sidebar ||= Sidebar.new(current_user)

  # Only members find a room: for all others it does not exist.
  def find_room(id = params.integer(:room_id)) = @room = Room.of_member(current_user, id)

  # Tells open pages of these users to load the sidebar again.
  def sidebar_changed(*users)
    users.flatten.each { |user| Pelton::Cable.broadcast("user:#{user.id}", {type: "sidebar"}) }
  end
end
