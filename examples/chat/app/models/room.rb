# frozen_string_literal: true

# Open rooms can be joined by everybody, others by invitation; a direct room is a conversation of its members, who are
# chosen once.
class Room < Sequel::Model
  plugin :enum
  enum :kind, {open: 0, invited: 1, direct: 2}, prefix: true

  many_to_one :creator, class: :User
  one_to_many :memberships
  many_to_many :users, join_table: :memberships
  one_to_many :messages # the database deletes them with the room

  # Attributes that forms may set.
  set_allowed_columns :name

  # The statement of most requests is put together once.
  OF_MEMBER = Sequel::Dataset::PlaceholderLiteralizer.loader(Room) do |argument, rooms|
    rooms.join(:memberships, room_id: :id)
      .where(Sequel[:memberships][:user_id] => argument.arg, Sequel[:rooms][:id] => argument.arg).select_all(:rooms)
  end
  private_constant :OF_MEMBER

  class << self
    # @return [Room] of a user who is a member
    # @raise [Sequel::NoMatchingRow] the user is no member
    def of_member(user, id) = OF_MEMBER.first(user.id, id) || raise(Sequel::NoMatchingRow, "no room #{id}")

    # @return [Room] the conversation of these users, which is made if they have none yet
    def direct(users)
      users = users.uniq(&:id)
      key = users.map(&:id).sort.join("-")
      first(direct_key: key) || db.transaction do
        create { |room| room.kind, room.direct_key, room.creator = :direct, key, users.first }.tap do |room|
          users.each { |user| room.join(user) }
        end
      end
    rescue Sequel::UniqueConstraintViolation # another request has just made it
      first!(direct_key: key)
    end

    # Tells caches and open pages that something on the room's page has changed.
    def changed(id, **columns) = where(id: id).update(version: Sequel[:version] + 1, **columns)
  end

  def name=(name)
    super(name.to_s.strip)
  end

  def validate
    super
    validates_presence :name unless kind_direct?
    validates_max_length 60, :name, allow_nil: true
  end

  def before_destroy
    @files = Attachment.where(message_id: messages_dataset.select(:id)).select_map([:file, :thumbnail]).flatten.compact
    super
  end

  def after_destroy
    super
    db.after_commit { @files.each { |key| Chat.settings.uploads.delete(key) } }
  end

  def join(user) = add_membership(user_id: user.id, read_message_id: last_message_id)

  # @return [Boolean] whether this user may rename and delete it, and choose who belongs to it
  def managed_by?(user) = !kind_direct? && (user.admin? || creator_id == user.id)

  # @return [String] of a direct room, the names of the others
  def name_for(user)
    kind_direct? ? users.map(&:name).tap { |names| names.delete(user.name) if names.size > 1 }.join(", ") : name
  end

  # Of the stream of its messages, and of the one that says that it has new ones.
  def self.stream(id) = "room:#{id}"
  def stream = self.class.stream(id)
  def news = "news:#{id}"
end
