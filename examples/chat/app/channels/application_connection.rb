# frozen_string_literal: true

# A browser's connection to the channels.
class ApplicationConnection < Pelton::Web::Connection
  include CurrentUser

  identified_by :user

  # Channels reject those who are not signed in.
  def connect = self.user = current_user
end
