# frozen_string_literal: true

require "json"

# The token in the link for a new password, which only this application can create and read. It expires after half an
# hour, or when the password or address changes, so it works once.
module PasswordReset
  LIFETIME = 1800 # seconds
  PURPOSE = "password reset"
  private_constant :PURPOSE

  class << self
    # @return [String]
    def token(user)
      secrets.encrypt(JSON.generate([user.id, state(user)]), purpose: PURPOSE, expires_at: Time.now + LIFETIME)
    end

    # @return [User, nil] the token's user
    def user(token)
      message = secrets.decrypt(token, purpose: PURPOSE) or return
      id, state = JSON.parse(message.text)
      user = User[id]
      user if user && Pelton::Web::Password.same?(state, state(user))
    end

    private

    def secrets = Pelton::Web::Secrets.new(Chat.settings.secrets)

    def state(user) = Digest::SHA256.hexdigest("#{user.email}\0#{user.password_digest}")
  end
end
