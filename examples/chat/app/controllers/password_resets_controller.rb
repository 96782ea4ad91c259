# frozen_string_literal: true

# Resets a forgotten password by a link in a mail. The response does not reveal whether the address has an account.
class PasswordResetsController < ApplicationController
  rate_limit to: 10, within: 3600, only: :create
  rate_limit to: 5, within: 3600, only: :create, by: -> { email }
  rate_limit to: 20, within: 3600, only: :update
  before_action :find_user, only: [:edit, :update]

  def new
  end

  # Finds the user in the background, so that the time reveals nothing. The link begins with settings.base_url, because
  # an attacker may have set the request's host.
  def create
    email, urls = self.email, Chat.urls
    BACKGROUND.run("mail with a link") do
      user = User.with_email(email)
      UserMails.password_reset(user, urls.edit_password_reset_url(PasswordReset.token(user))) if user
    end
    redirect_to new_sign_in_path, notice: "If this address has an account, a mail with a link is on its way."
  end

  def edit
  end

  def update
    return render(:edit, status: 422) unless @user.change_password(params.require(:user).permit(:password)[:password])
    BACKGROUND.run("mail about a password") { UserMails.password_changed(@user) }
    redirect_to new_sign_in_path, notice: "Your password has changed. Sign in with it."
  end

  private

  def email = User.normalize(params.require(:password_reset)[:email])

  # The URL of this page is secret: keep it from other sites and from caches.
  def find_user
    headers["referrer-policy"] = "no-referrer"
    headers["cache-control"] = "no-store"
    return if (@user = PasswordReset.user(params[:token]))
    redirect_to new_password_reset_path, alert: "This link is not good any more. Ask for another one."
  end
end
