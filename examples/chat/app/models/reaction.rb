# frozen_string_literal: true

class Reaction < Pelton::Record::Model
  CHOICE = %w[👍 ❤️ 😂 🎉 👀 🙏].freeze

  belongs_to :message
  belongs_to :user

  validates :emoji, inclusion: {in: CHOICE}

  # @return [Boolean]
  def self.toggle(message, user, emoji)
    own = {message_id: message.id, user_id: user.id, emoji: emoji}
    where(**own).delete_all.positive? || !!create!(**own)
  end
end
