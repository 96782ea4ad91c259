# frozen_string_literal: true

# A browser's connection to the channels.
class ApplicationConnection < Pelton::Web::Connection
  include CurrentUser

  identified_by :user, :user_id, :sign_in_id

  # The browser of one who is not signed in stays away, and says so.
  def connect
    self.user = current_user || reject_unauthorized_connection
    self.user_id = user.id
    self.sign_in_id = current_sign_in.id
  end

  # The device may have been signed out since.
  def authorized? = !SignIn.where(id: sign_in_id).empty?
end
