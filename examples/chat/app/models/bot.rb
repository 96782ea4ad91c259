# frozen_string_literal: true

require "digest"
require "securerandom"

# A user without a password, who posts by a token, and gets messages that mention it at its webhook's address.
class Bot < Pelton::Record::Model
  belongs_to :user

  validates :webhook_url, format: {with: %r{\Ahttps?://\S+\z}, message: "is no address"}, length: {maximum: 2000}, allow_nil: true

  class << self
    # @return [Array(Bot, String)] the bot, saved or with errors, and its token, which is not stored
    def make(name, webhook_url)
      token = SecureRandom.urlsafe_base64(32)
      transaction do
        user = User.create!(name: name, email: "#{SecureRandom.hex(8)}@bots.invalid", password: SecureRandom.hex(32), role: :bot)
        [create!(user: user, token_digest: digest(token), webhook_url: webhook_url.presence), token]
      end
    end

    # @return [Bot, nil]
    def of_token(token) = find_by(token_digest: digest(token))&.then { |bot| bot if bot.user.active? }

    private

    def digest(token) = Digest::SHA256.hexdigest(token.to_s)
  end
end
