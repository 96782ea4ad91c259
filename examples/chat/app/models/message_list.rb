# frozen_string_literal: true

# The messages of a room's page, in groups of neighbours: a group is read and rendered only if its fragment is not kept. A new message
# changes the last group, and the first, which it pushes out of the page.
class MessageList
  # Neighbours.
  #
  # @!attribute key
  #   @return [Array] changes with each of them
  Group = Struct.new(:ids, :key) do
    def messages = Message.where(id: ids).order(:id).includes(:user, :reactions, :attachment).to_a
  end

  # @param before [Integer, nil] only messages before this one
  def initialize(room, before: nil)
    @room = room
    @before = before
  end

  # @return [Array<Group>] oldest first
  def groups
    rows.group_by { |id, _| id / Message::GROUP }.map { |_, list| Group.new(list.map(&:first), ["messages", *list.flatten]) }
  end

  # @return [Integer, nil] the id of its first message, if there are older ones
  def older
    first, = rows.first
    first if @more
  end

  private

  def rows
    @rows ||= begin
      found = Message.where(room_id: @room.id).order(id: :desc).limit(Message::PAGE + 1)
      found = found.where(Sequel[:id] < @before) if @before
      found = found.pluck(:id, :updated_at).reverse
      @more = found.size > Message::PAGE
      found.last(Message::PAGE)
    end
  end
end
