# frozen_string_literal: true

class Message < Pelton::Record::Model
  PAGE = 40 # messages

  belongs_to :room
  belongs_to :user
  has_many :reactions, dependent: :delete_all
  has_one :attachment, dependent: :destroy

  # Attributes that forms may set.
  permits :text, :client_id

  validates :text, length: {maximum: 10_000}
  validates :client_id, presence: true, length: {maximum: 36}

  class << self
    # @return [Array<Message>] the last messages, or those before one, oldest first
    def page(room, before: nil)
      messages = where(room_id: room.id).order(id: :desc).limit(PAGE)
      messages = messages.where { id < before } if before
      messages.includes(:user).to_a.reverse
    end

    # Posts a message. One that the client sends again, as after a lost connection, is posted once.
    def post(room, user, text:, client_id:)
      transaction do
        message = create!(room: room, user: user, text: text, client_id: client_id)
        Room.where(id: room.id).update_all(last_message_id: message.id, version: Sequel[:version] + 1)
        message
      end
    rescue Sequel::UniqueConstraintViolation
      find_by!(user_id: user.id, client_id: client_id)
    end
  end
end
