# frozen_string_literal: true

class Message < Sequel::Model
  PAGE = 40 # messages
  GROUP = 8 # messages in a row, which are kept as one fragment: see MessageList

  many_to_one :room
  many_to_one :user
  one_to_many :reactions, order: :id
  one_to_one :attachment
  add_association_dependencies reactions: :delete, attachment: :destroy

  class << self
    # Posts a message. One that the client sends again, as after a lost connection, is posted once.
    #
    # @param attachment [Attachment, nil] a new one
    # @return [Message] saved, or with errors
    def post(room, user, text:, client_id:, attachment: nil)
      db.transaction do
        message = new(room: room, user: user, text: text, client_id: client_id)
        message.associations[:attachment] = attachment
        message.posted if message.save(raise_on_failure: false)
        message
      end
    rescue Sequel::UniqueConstraintViolation
      first!(user_id: user.id, client_id: client_id)
    end
  end

  # @return [Boolean] whether this post has made it, and not one before
  def posted? = @posted == true

  # Called in the transaction in which it was saved.
  def posted
    attachment&.update(message_id: id)
    associations.update(reactions: [], attachment: attachment) # so that its HTML needs no query
    Room.changed(room_id, last_message_id: id)
    Membership.read(room_id, user_id, id)
    @posted = true
  end

  def text=(text)
    super(text.to_s.scrub.gsub("\r\n", "\n").strip)
  end

  def validate
    super
    validates_presence :text unless attachment
    validates_max_length 10_000, :text
    validates_format(/\A[\w-]{1,36}\z/, :client_id)
  end

  # Changes its text, or anything else that its HTML shows.
  def edit(text) = change { set(text: text, edited_at: Time.now).save(changed: true, raise_on_failure: false) }

  def remove = change { destroy }

  # Adds the user's reaction, or takes it back.
  def react(user, emoji)
    change do
      Reaction.toggle(self, user, emoji)
      renew
    end
  end

  # Called when its attachment has a thumbnail.
  def illustrated = change { renew }

  # @return [Hash{String => Array<Integer>}] the users' ids of each reaction
  def reactions_by_emoji = reactions.group_by(&:emoji).transform_values { |list| list.map(&:user_id) }

  def changeable_by?(user) = user_id == user.id || user.admin?

  private

  def renew = update(updated_at: Time.now)

  def change
    db.transaction { yield.tap { |done| Room.changed(room_id) if done } }
  end
end
