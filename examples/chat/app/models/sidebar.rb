# frozen_string_literal: true

# The rooms of a user, with marks where there is something new.
class Sidebar
  Entry = Struct.new(:id, :name, :kind, :unread)

  def initialize(user)
    @user = user
  end

  # @return [Array] changes with what it shows
  def key = ["sidebar", @user.id, @user.updated_at, *entries.flat_map(&:to_a).map(&:to_s)]

  def rooms = entries.reject { |entry| entry.kind == "direct" }

  def directs = entries.select { |entry| entry.kind == "direct" }

  def unread?(room_id) = entries.any? { |entry| entry.id == room_id && entry.unread }

  private

  def entries
    @entries ||= begin
      list = read
      direct = list.select { |entry| entry.kind == "direct" }
      names = names_of(direct.map(&:id))
      direct.each { |entry| entry.name = names.fetch(entry.id, @user.name) }
      list.sort_by { |entry| [entry.name.downcase, entry.id] }
    end
  end

  def read
    Membership.where(user_id: @user.id).joins(:room)
      .pluck(Sequel[:rooms][:id], Sequel[:rooms][:name], Sequel[:rooms][:kind], Sequel[:rooms][:last_message_id], :read_message_id)
      .map { |id, name, kind, last, read| Entry.new(id, name, Room.kinds.key(kind), last > read) }
  end

  def names_of(ids)
    return {} if ids.empty?
    Membership.where(room_id: ids).where.not(user_id: @user.id).joins(:user).order(:id).pluck(:room_id, Sequel[:users][:name]).group_by(&:first).transform_values { |rows| rows.map(&:last).join(", ") }
  end
end
