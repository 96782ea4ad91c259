# frozen_string_literal: true

# Open rooms can be joined by everybody, others by invitation; a direct room is a conversation of its members, who are chosen once.
class Room < Pelton::Record::Model
  belongs_to :creator, class_name: "User", optional: true
  has_many :memberships
  has_many :users, through: :memberships
  has_many :messages # the database deletes them with the room
  enum :kind, [:open, :invited, :direct], default: :open, validate: true, prefix: true

  # Attributes that forms may set.
  permits :name, :kind

  normalizes :name, with: ->(name) { name.to_s.strip }
  validates :name, presence: true, length: {maximum: 60}, unless: :kind_direct?

  before_destroy { @files = Attachment.where(message_id: Message.where(room_id: id).select(:id)).pluck(:file, :thumbnail).flatten.compact }
  after_commit(on: :destroy) { @files.each { |key| Chat.settings.uploads.delete(key) } }

  # Of a user who is a member. The statement of most requests is written once.
  OF_MEMBER = "SELECT rooms.* FROM rooms JOIN memberships ON memberships.room_id = rooms.id WHERE memberships.user_id = ? AND rooms.id = ?"
  private_constant :OF_MEMBER

  class << self
    # @return [Room]
    # @raise [Pelton::Record::NotFound] the user is no member
    def of_member(user, id) = with_sql(OF_MEMBER, user.id, id).all.first || raise(Pelton::Record::NotFound, "no room #{id}")

    # @return [Room] the conversation of these users, which is made if they have none yet
    def direct(users)
      key = users.map(&:id).uniq.sort.join("-")
      find_by(direct_key: key) || transaction do
        create!(kind: :direct, direct_key: key, creator: users.first).tap { |room| users.uniq.each { |user| room.join(user) } }
      end
    rescue Sequel::UniqueConstraintViolation # another request has just made it
      find_by!(direct_key: key)
    end

    # Tells caches and open pages that something on the room's page has changed.
    def changed(id, **columns) = where(id: id).update_all(version: Sequel[:version] + 1, **columns)
  end

  def join(user) = memberships.create!(user: user, read_message_id: last_message_id)

  # @return [Boolean] whether this user may rename and delete it, and choose who belongs to it
  def managed_by?(user) = !kind_direct? && (user.admin? || creator_id == user.id)

  # @return [String] of a direct room, the names of the others
  def name_for(user) = kind_direct? ? users.map(&:name).tap { |names| names.delete(user.name) if names.size > 1 }.join(", ") : name

  # Of the stream of its messages, and of the one that says that it has new ones.
  def stream = "room:#{id}"
  def news = "news:#{id}"
end
