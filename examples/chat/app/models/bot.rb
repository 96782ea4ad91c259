# frozen_string_literal: true

require "digest"
require "securerandom"

# A user without a password, who posts by a token, and gets messages that mention it at its webhook's address.
class Bot < Sequel::Model
  many_to_one :user

  class << self
    # @return [Array(Bot, String)] the bot and its token, which is not stored
    # @raise [Sequel::ValidationFailed]
    def make(name, webhook_url)
      token = SecureRandom.urlsafe_base64(32)
      webhook_url = nil if webhook_url.to_s.empty?
      email = "#{SecureRandom.hex(8)}@bots.invalid"
      # Before the transaction: bcrypt takes long.
      user = User.new(name: name, email: email, password: SecureRandom.hex(32), &:bot!)
      db.transaction do
        user.save_or_explain or raise Sequel::ValidationFailed, user
        [create(user: user, token_digest: digest(token), webhook_url: webhook_url), token]
      end
    end

    # @return [Bot, nil]
    def of_token(token) = first(token_digest: digest(token))&.then { |bot| bot if bot.user.active? }

    private

    def digest(token) = Digest::SHA256.hexdigest(token.to_s)
  end

  def validate
    super
    validates_format %r{\Ahttps?://\S+\z}, :webhook_url, message: "is no address", allow_nil: true
    validates_max_length 2000, :webhook_url, allow_nil: true
  end
end
