# frozen_string_literal: true

# The rooms of a user, with marks where there is something new.
class Sidebar
  include Enumerable

  Entry = Struct.new(:id, :name, :kind, :unread)

  def initialize(user)
    @user = user
  end

  # @return [Array] changes with what it shows
  def key
    @key ||=
      ["sidebar", @user.id,
        @user.updated_at, entries.map { |entry| "#{entry.id} #{entry.name} #{entry.unread}" }.join("\n")]
  end

  def each(&block) = entries.each(&block)

  def rooms = entries.reject { |entry| entry.kind == :direct }

  def directs = entries.select { |entry| entry.kind == :direct }

  # @return [Entry, nil] nil: the user is no member
  def entry(room_id) = entries.find { |entry| entry.id == room_id }

  private

  def entries
    @entries ||= begin
      rooms = @user.rooms_dataset.select(Sequel[:rooms][:id], :name, :kind, :last_message_id, :read_message_id).all
      list = rooms.map do |room|
        Entry.new(room.id, room.name, room.kind, room.last_message_id > room[:read_message_id])
      end
      direct = list.select { |entry| entry.kind == :direct }
      names = names_of(direct.map(&:id))
      direct.each { |entry| entry.name = names.fetch(entry.id, @user.name) }
      list.sort_by { |entry| [entry.name.downcase, entry.id] }
    end
  end

  def names_of(ids)
    return {} if ids.empty?
    others = Membership.where(room_id: ids).exclude(user_id: @user.id).join(:users,
      id: :user_id).order(Sequel[:memberships][:id])
    others.select_map([:room_id, :name]).group_by(&:first).transform_values { |rows| rows.map(&:last).join(", ") }
  end
end
