# frozen_string_literal: true

class Message < Pelton::Record::Model
  PAGE = 40 # messages
  GROUP = 8 # messages in a row, which are kept as one fragment: see MessageList

  belongs_to :room
  belongs_to :user
  has_many :reactions, dependent: :delete_all
  has_one :attachment, dependent: :destroy

  # Attributes that forms may set.
  permits :text

  normalizes :text, with: ->(text) { text.to_s.scrub.gsub("\r\n", "\n").strip }
  validates :text, presence: true, unless: :attachment
  validates :text, length: {maximum: 10_000}
  validates :client_id, presence: true, format: {with: /\A[\w-]{1,36}\z/}

  class << self
    # Posts a message. One that the client sends again, as after a lost connection, is posted once.
    #
    # @param attachment [Attachment, nil] a new one
    # @return [Message] saved, or with errors
    def post(room, user, text:, client_id:, attachment: nil)
      transaction do
        message = new(room: room, user: user, text: text, client_id: client_id)
        message.attachment = attachment if attachment
        if message.save
          message.associations.update(reactions: [], attachment: attachment) # so that its HTML needs no query
          Room.changed(room.id, last_message_id: message.id)
          Membership.read(room.id, user.id, message.id)
        end
        message
      end
    rescue Sequel::UniqueConstraintViolation
      find_by!(user_id: user.id, client_id: client_id)
    end
  end

  # Changes its text, or anything else that its HTML shows.
  def edit(text) = change { update(text: text, edited_at: Time.now) }

  def remove = change { destroy }

  # Adds the user's reaction, or takes it back.
  def react(user, emoji)
    change do
      Reaction.toggle(self, user, emoji)
      touch
    end
  end

  # Called when its attachment has a thumbnail.
  def illustrated = change { touch }

  # @return [Hash{String => Array<Integer>}] the users' ids of each reaction
  def reactions_by_emoji = reactions.to_a.sort_by(&:id).group_by(&:emoji).transform_values { |list| list.map(&:user_id) }

  def changeable_by?(user) = user_id == user.id || user.admin?

  private

  def change
    Message.transaction { yield.tap { |done| Room.changed(room_id) if done } }
  end
end
