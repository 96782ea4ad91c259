# frozen_string_literal: true

# The rooms of a user, with marks where there is something new.
class Sidebar
  include Enumerable

  Entry = Struct.new(:id, :name, :kind, :unread)

  def initialize(user)
    @user = user
  end

  # @return [Array] changes with what it shows
  def key = @key ||= ["sidebar", @user.id, @user.updated_at, entries.map { |entry| "#{entry.id} #{entry.name} #{entry.unread}" }.join("\n")]

  def each(&block) = entries.each(&block)

  def rooms = entries.reject { |entry| entry.kind == "direct" }

  def directs = entries.select { |entry| entry.kind == "direct" }

  # @return [Entry, nil] nil: the user is no member
  def entry(room_id) = entries.find { |entry| entry.id == room_id }

  private

  # The statement of almost every page is written once, not put together each time.
  ROOMS = "SELECT r.id, r.name, r.kind, r.last_message_id, m.read_message_id FROM memberships m JOIN rooms r ON r.id = m.room_id WHERE m.user_id = ?"
  private_constant :ROOMS

  def entries
    @entries ||= begin
      kinds = Room.kinds.invert
      list = Room.db.fetch(ROOMS, @user.id).map { |row| Entry.new(row[:id], row[:name], kinds[row[:kind]], row[:last_message_id] > row[:read_message_id]) }
      direct = list.select { |entry| entry.kind == "direct" }
      names = names_of(direct.map(&:id))
      direct.each { |entry| entry.name = names.fetch(entry.id, @user.name) }
      list.sort_by { |entry| [entry.name.downcase, entry.id] }
    end
  end

  def names_of(ids)
    return {} if ids.empty?
    Membership.where(room_id: ids).where.not(user_id: @user.id).joins(:user).order(:id).pluck(:room_id, Sequel[:users][:name]).group_by(&:first).transform_values { |rows| rows.map(&:last).join(", ") }
  end
end
