# frozen_string_literal: true

class RoomsController < ApplicationController
  before_action :require_sign_in
  before_action :find_managed_room, only: [:edit, :update, :destroy]

  # Open rooms to join.
  def index
    own = current_user.memberships_dataset.select(:room_id)
    @rooms = paginate(Room.kind_open.exclude(id: own).order(:name, :id))
  end

  def show
    # Before anything is read: what comes later is sent to the page
    @position = Pelton::Cable.position(Room.stream(params.integer(:id)))
    entry = sidebar.entry(params.integer(:id)) || raise(Pelton::Web::NotFound)
    @room = Room.with_pk!(entry.id)
    @title = entry.name
    @before = params.integer(:before, default: nil)
    if entry.unread && !@before
      Announcement.read(@room.id, current_user.id, @room.last_message_id)
      entry.unread = false
    end
    render if stale?([@room.id, @room.version, @before, *sidebar.key])
  end

  def new
    @room = Room.new
  end

  def create
    form = params.require(:room)
    @room = Room.new(form.permit(:name)) do |room|
      room.kind, room.creator = form.enum(:kind, %i[open invited], default: :open), current_user
    end
    return render(:new, status: 422) unless @room.save(raise_on_failure: false)
    @room.join(current_user)
    sidebar_changed(current_user)
    redirect_to room_path(@room)
  end

  # Its name and its members.
  def edit
    @members = @room.users_dataset.order(:name).all
  end

  def update
    unless @room.set(params.require(:room).permit(:name)).save(changed: true, raise_on_failure: false)
      return render(:edit, status: 422)
    end
    Room.changed(@room.id)
    sidebar_changed(@room.users)
    redirect_to edit_room_path(@room), notice: "Saved."
  end

  def destroy
    members = @room.users
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
