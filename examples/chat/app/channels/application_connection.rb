# frozen_string_literal: true

# A browser's connection to the channels.
class ApplicationConnection < Pelton::Web::Connection
  include CurrentUser

  identified_by :user, :user_id, :sign_in_id

  # Channels reject those who are not signed in.
  def connect
    self.user = current_user
    self.user_id = user&.id
    self.sign_in_id = current_sign_in&.id
  end

  # The device may have been signed out since.
  def authorized? = user.nil? || !SignIn.where(id: sign_in_id).empty?
end
