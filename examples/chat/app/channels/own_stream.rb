# frozen_string_literal: true

# The stream of the user, which also says that a sign-in has ended: the connection is closed then. Browsers that are
# still signed in come back.
module OwnStream
  private

  def user = connection.user

  def stream_from_own
    stream_from("user:#{user.id}") do |message|
      (message["type"] == "signed_out") ? connection.close(reason: "signed_out") : heed(message)
    end
  end
end
