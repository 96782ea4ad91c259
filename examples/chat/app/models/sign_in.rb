# frozen_string_literal: true

require "digest"
require "securerandom"

# A device on which a user is signed in. It has a token in a cookie, whose digest is stored here. The token is replaced
# every hour. If an old one is used although the device has the new one, the cookie was copied, and the sign-in ends.
class SignIn < Sequel::Model
  ROTATION = 3600 # seconds after which a device gets another token
  GRACE = 60 # seconds for concurrent requests with the previous token
  LIFETIME = 14 * 86_400 # seconds without a visit
  REMEMBERED = 60 * 86_400 # the same, with "remember me"

  # Keeps them out of `render json: sign_in`.
  plugin :json_serializer, except: [:token_digest, :previous_digest]

  many_to_one :user

  class << self
    # Locks the user, so that a change of the password comes first and is noticed, or later and signs out this device.
    #
    # @return [Array(SignIn, String), nil] the device and its token; nil if the user's password has changed since the
    #   user was loaded, or the user was deactivated
    def start(user, remembered: false, device: nil, address: nil)
      token = new_token
      db.transaction do
        same = User.where(id: user.id, password_digest: user.password_digest, deactivated_at: nil)
        next unless same.for_update.get(:id)
        from = {device: short(device, 200), address: short(address, 45)}
        [create(user: user, token_digest: digest(token), rotated_at: Time.now, remembered: remembered, **from), token]
      end
    end

    # @return [Array(SignIn, String), Array(SignIn, nil), nil] the device, and its new token, if any; nil if it is not
    #   signed in
    def resume(id, token)
      sign_in = self[id] or return
      case digest(token)
      when ->(_) { sign_in.expired? } then sign_in.revoke
      when sign_in.token_digest then [sign_in, sign_in.rotate_if_due]
      when sign_in.previous_digest then [sign_in, sign_in.rotate_again_if_lost]
      else sign_in.revoke
      end
    end

    # Signs the user out on all devices but one.
    def end_all(user_id, except: nil)
      where(user_id: user_id).exclude(id: except || 0).delete
      ended(user_id)
    end

    # Open pages must sign in again, and sockets without a subscription end, too. Devices that are still signed in come
    # back.
    def ended(user_id)
      Pelton::Cable.broadcast("user:#{user_id}", {type: "signed_out"})
      db.after_commit { Chat.cable.disconnect(user_id: user_id) }
    end

    # Deletes devices that were not used for long.
    def clean
      where { rotated_at < Time.now - REMEMBERED }.delete
      where(remembered: false).where { rotated_at < Time.now - LIFETIME }.delete
    end

    def digest(token) = Digest::SHA256.hexdigest(token.to_s)

    def new_token = SecureRandom.urlsafe_base64(32)

    private

    # The client's description of itself, in a form that every database accepts.
    def short(text, size) = text&.b&.slice(0, size)&.tr("^ -~", "?")
  end

  def expired? = rotated_at < Time.now - lifetime

  def lifetime = remembered ? REMEMBERED : LIFETIME

  # @return [nil]
  def revoke
    SignIn.where(id: id).delete
    SignIn.ended(user_id)
    nil
  end

  def rotate_if_due
    return rotate(token_digest) if rotated_at < Time.now - ROTATION
    forget_previous if previous_digest && rotated_at < Time.now - GRACE
  end

  # The device has never sent its new token: the response with it was lost.
  def rotate_again_if_lost
    rotate(previous_digest) if rotated_at < Time.now - GRACE
  end

  private

  # One of several concurrent requests rotates the token.
  #
  # @return [String, nil] the new token
  def rotate(shown)
    token = SignIn.new_token
    changed =
      SignIn.where(id: id, token_digest: token_digest)
        .update(token_digest: SignIn.digest(token), previous_digest: shown, rotated_at: Time.now)
    token if changed == 1
  end

  def inspect_values = values.except(:token_digest, :previous_digest).inspect

  # @return [nil]
  def forget_previous
    SignIn.where(id: id, token_digest: token_digest).update(previous_digest: nil)
    nil
  end
end
