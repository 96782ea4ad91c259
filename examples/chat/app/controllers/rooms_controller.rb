# frozen_string_literal: true

class RoomsController < ApplicationController
  before_action :require_sign_in
  before_action :find_managed_room, only: [:edit, :update, :destroy]

  # Open rooms to join.
  def index
    own = current_user.memberships.select(:room_id)
    @rooms = paginate(Room.where(kind: :open).where.not(id: own).order(:name))
  end

  def show
    entry = sidebar.entry(params.integer(:id)) || raise(Pelton::Web::NotFound)
    @room = Room.find(entry.id)
    @title = entry.name
    @before = params.integer(:before, default: nil)
    if entry.unread && !@before
      Membership.read(@room.id, current_user.id, @room.last_message_id)
      entry.unread = false
    end
    render if stale?([@room.id, @room.version, @before, *sidebar.key])
  end

  def new
    @room = Room.new
  end

  def create
    @room = Room.new(creator: current_user, **params.require(:room).permit(:name, :kind))
    return render(:new, status: 422) if @room.kind_direct? || !@room.save
    @room.join(current_user)
    sidebar_changed(current_user)
    redirect_to room_path(@room)
  end

  # Its name and its members.
  def edit
    @members = @room.users.order(:name).to_a
  end

  def update
    return render(:edit, status: 422) unless @room.update(params.require(:room).permit(:name))
    Room.changed(@room.id)
    sidebar_changed(@room.users)
    redirect_to edit_room_path(@room), notice: "Saved."
  end

  def destroy
    members = @room.users.to_a
    @room.destroy
    Pelton::Cable.broadcast(@room.stream, {type: "gone"})
    sidebar_changed(members)
    redirect_to root_path, notice: "The room is deleted."
  end

  private

  def find_managed_room
    find_room(params.integer(:id))
    raise Pelton::Web::Forbidden, "Only who made a room can change it." unless @room.managed_by?(current_user)
    @members = []
  end
end
