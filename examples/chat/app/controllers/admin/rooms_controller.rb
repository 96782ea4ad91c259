# frozen_string_literal: true

module Admin
  class RoomsController < BaseController
    def index
      @rooms = paginate(Room.where.not(kind: :direct).order(:name), limit: 50)
      @sizes = Membership.where(room_id: @rooms.map(&:id)).group(:room_id).count
    end

    def destroy
      room = Room.find(params.integer(:id))
      members = room.users.to_a
      room.destroy
      Pelton::Cable.broadcast(room.stream, {type: "gone"})
      sidebar_changed(members)
      redirect_to admin_rooms_path, notice: "#{room.name} is deleted."
    end
  end
end
