# frozen_string_literal: true

module Admin
  class RoomsController < BaseController
    def index
      @rooms = paginate(Room.kind_not_direct.order(:name, :id), limit: 50)
      @sizes = Membership.where(room_id: @rooms.map(&:id)).group_and_count(:room_id).as_hash(:room_id, :count)
    end

    def destroy
      room = Room.with_pk!(params.integer(:id))
      members = room.users
      room.destroy
      Pelton::Cable.broadcast(room.stream, {type: "gone"})
      sidebar_changed(members)
      redirect_to admin_rooms_path, notice: "#{room.name} is deleted."
    end
  end
end
