# frozen_string_literal: true

# Who belongs to a room: people join open rooms, are invited to others, and leave.
class MembershipsController < ApplicationController
  LISTED = 1_000 # members, by name: as many as can be known to be here

  before_action :require_sign_in

  # A page of its own, or the panel beside the messages.
  def index
    find_room
    @title = sidebar.entry(@room.id).name
    members = @room.users_dataset.where(deactivated_at: nil)
    @members = members.order(:name, Sequel[:users][:id]).limit(LISTED).all
    @others = members.count - @members.size
  end

  # Without a handle, the user joins an open room.
  def create
    handle = params.string(:handle, default: nil, max: 70)
    return invite(handle) if handle
    @room = Room.kind_open.with_pk!(params.integer(:room_id))
    join(current_user)
    redirect_to room_path(@room)
  end

  # Leaves the room, or removes somebody from it.
  def destroy
    find_room
    user = User.with_pk!(params.integer(:id))
    raise Pelton::Web::Forbidden, "Nobody leaves a conversation." if @room.kind_direct?
    unless user.id == current_user.id || @room.managed_by?(current_user)
      raise Pelton::Web::Forbidden, "Only who made a room can remove others."
    end
    Membership.where(room_id: @room.id, user_id: user.id).delete
    Pelton::Cable.broadcast("user:#{user.id}", {type: "left", room: @room.id})
    sidebar_changed(user)
    members_changed
    redirect_to((user.id == current_user.id) ? root_path : edit_room_path(@room))
  end

  private

  def invite(handle)
    find_room
    raise Pelton::Web::Forbidden, "Only who made a room can invite others." unless @room.managed_by?(current_user)
    user = User.first(handle: handle.delete_prefix("@").downcase, deactivated_at: nil)
    join(user) if user
    redirect_to edit_room_path(@room),
      **(user ? {notice: "#{user.name} is a member."} : {alert: "Nobody is called #{handle}."})
  end

  def join(user)
    @room.join(user)
    sidebar_changed(user)
    members_changed
  rescue Sequel::UniqueConstraintViolation
    nil # is a member already
  end

  # Tells the room's open pages to load the list again.
  def members_changed = Pelton::Cable.broadcast(@room.stream, {type: "members"})
end
