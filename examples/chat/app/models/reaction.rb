# frozen_string_literal: true

class Reaction < Sequel::Model
  CHOICE = %w[👍 ❤️ 😂 🎉 👀 🙏].freeze

  many_to_one :message
  many_to_one :user

  # @return [Boolean]
  def self.toggle(message, user, emoji)
    own = {message_id: message.id, user_id: user.id, emoji: emoji}
    where(own).delete.positive? || !!create(own)
  end

  def validate
    super
    validates_includes CHOICE, :emoji
  end
end
